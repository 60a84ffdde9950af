// SPDX-License-Identifier: Apache-2.0
// The three tensors that the windows of a convolution relate, and the attributes of its node.
#pragma once

#include <cstdint>

#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/graph/module.hpp"

namespace meshtensor {

/// Windows relate three tensors: one along their inputs, one along their outputs, and one along their kernels. The
/// direction says which of the three is the result.
///
/// forward   outputs = conv(inputs, kernels)
/// backward  inputs = conv(outputs, kernels): the gradient by the inputs, and the transposed convolution
/// kernel    kernels = conv(inputs, outputs): the gradient by the kernels
enum class conv_direction : std::uint8_t { forward, backward, kernel };

struct conv_attributes {
  id first;   // the first window, a row of the table of windows
  int count;  // the number of windows

  static constexpr conv_attributes of(id const* slots) { return {slots[0], slots[1]}; }
  static constexpr conv_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{first, static_cast<id>(count)}}; }
};

struct conv_roles {
  /// The three tensors of a node. The direction says which of them is the result.
  enum role : std::uint8_t { inputs, outputs, kernels };
  static constexpr role operand_role(conv_direction d, int operand) {
    if (operand == 0) return d == conv_direction::backward ? outputs : inputs;
    return d == conv_direction::kernel ? outputs : kernels;
  }
  static constexpr role result_role(conv_direction d) {
    return d == conv_direction::forward ? outputs : d == conv_direction::backward ? inputs : kernels;
  }
  static constexpr dim_id dim_of(window_row const& w, role r) {
    return r == inputs ? w.input : r == outputs ? w.output : w.kernel;
  }
  static constexpr conv_direction direction(node const& n) { return static_cast<conv_direction>(n.function); }
};

}  // namespace meshtensor

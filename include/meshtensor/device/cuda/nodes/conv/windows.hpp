// SPDX-License-Identifier: Apache-2.0
// The windows of a convolution as the texts of its kernels need them.
#pragma once

#include "meshtensor/device/cuda/text/window.hpp"
#include "meshtensor/op/conv.hpp"

namespace meshtensor::cuda::detail {

/// The windows and tensors of a node. Paddings are 0 here, because they are not known before a step.
inline conv_rule::problem windows_of(module const& m, node const& n, view const* operands, view const& y) {
  return conv_rule::problem::of(m, n, operands, y, [](number_id) { return 0.0; });
}
/// A window as operand 0 sees it.
inline window_in_text seen_by_operand(conv_rule::problem const& p, int k) {
  conv_rule::window_in_memory const& w = p.windows[k];
  bool const back = p.direction == conv_direction::backward;
  return {w.window, back, w.origin[p.roles[0]], w.extent[p.roles[0]],
          w.origin[back ? conv_rule::inputs : conv_rule::outputs]};
}

}  // namespace meshtensor::cuda::detail

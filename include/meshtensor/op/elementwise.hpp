// SPDX-License-Identifier: Apache-2.0
// elementwise: one scalar function of one, two or three operands that broadcast by name, with its gradient, sharding
// and loops.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "meshtensor/graph/differentiation.hpp"
#include "meshtensor/graph/rule.hpp"
#include "meshtensor/op/detail/arithmetic.hpp"
#include "meshtensor/op/elementwise/cast.hpp"
#include "meshtensor/op/elementwise/derivative.hpp"
#include "meshtensor/op/elementwise/extrema.hpp"
#include "meshtensor/op/elementwise/function_call.hpp"
#include "meshtensor/op/elementwise/loops.hpp"
#include "meshtensor/op/elementwise/operators.hpp"
#include "meshtensor/op/elementwise/powers.hpp"
#include "meshtensor/op/elementwise/select.hpp"
#include "meshtensor/op/elementwise/sign_and_rounding.hpp"
#include "meshtensor/op/elementwise/simplification.hpp"
#include "meshtensor/op/elementwise/stop_gradient.hpp"
#include "meshtensor/op/elementwise/transcendental.hpp"
#include "meshtensor/tensor/tensor.hpp"

namespace meshtensor {

namespace detail {
/// The derivatives of all scalar functions, in the order of `function`.
inline constexpr auto derivatives = []<std::size_t... F>(std::index_sequence<F...>) {
  return std::array{&derivative<static_cast<function>(F)>::give...};
}(std::make_index_sequence<static_cast<std::size_t>(function::count_)>());
}  // namespace detail

struct elementwise_rule : elementwise_inference, elementwise_simplification, elementwise_loops {
  static constexpr meshtensor::sharding sharding(module const& m, node const& n) {
    constexpr unsigned sums = meshtensor::sharding::kind(reduction::sum);
    meshtensor::sharding s{};
    switch (static_cast<function>(n.function)) {
      case function::copy:
      case function::stop_gradient: return s.passes_partial(linearity::separate);
      case function::negate:
      case function::multiply: return s.passes_partial(linearity::separate, sums);
      case function::divide:  // quotients of integers are truncated, so those of parts do not add up to that of the sum
        return is_float(m.result_value(n).type) ? s.passes_partial(linearity::separate, sums, 1) : s;
      case function::add:
      case function::subtract: return s.passes_partial(linearity::joint, sums);
      case function::maximum: return s.passes_partial(linearity::joint, meshtensor::sharding::kind(reduction::max));
      case function::minimum: return s.passes_partial(linearity::joint, meshtensor::sharding::kind(reduction::min));
      default: return s;
    }
  }

  /// Functions that only move bytes count as no operation.
  static constexpr std::int64_t flops(module const& m, node const& n, auto const& extents) {
    return static_cast<function>(n.function) <= function::stop_gradient ? 0 : extents.local_size(m.result_value(n));
  }

  static constexpr void gradient(differentiation& d, node const& n) {
    detail::derivatives[n.function](differentiated_function(d, n));
  }
};

}  // namespace meshtensor

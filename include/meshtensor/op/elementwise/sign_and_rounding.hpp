// SPDX-License-Identifier: Apache-2.0
// The absolute value, the sign and the floor of each element.
#pragma once

#include <concepts>

#include "meshtensor/op/elementwise/derivative.hpp"
#include "meshtensor/op/elementwise/function_call.hpp"

namespace meshtensor {

/// The absolute value of each element.
///
/// grad    dy · sign(x), which is 0 at 0
template <elementwise_operands H>
constexpr auto abs(H const& x, detail::line_of<function::abs, H> const& where = {}) {
  return elementwise_at(fn<function::abs>{}, where, x);
}
template <>
struct derivative<function::abs> {
  static constexpr void give(differentiated_function const& f) {
    f.give(0, [&] { return multiply(f.b, f.dy, elementwise(f.b, function::sign, f.x())); });
  }
};
/// -1, 0 or 1 for each element, by its sign. A NaN gives 0.
///
/// grad    0
template <elementwise_operands H>
constexpr auto sign(H const& x, detail::line_of<function::sign, H> const& where = {}) {
  return elementwise_at(fn<function::sign>{}, where, x);
}
/// The largest whole number that is not above each element.
///
/// grad    0
template <elementwise_operands H>
constexpr auto floor(H const& x, detail::line_of<function::floor, H> const& where = {}) {
  return elementwise_at(fn<function::floor>{}, where, x);
}

/// Rejects a number as the operand of functions that only tensors have.
template <std::same_as<number> N>
constexpr number abs(N const& n, detail::refused_call<detail::not_of_numbers, N> const& = {}) {
  return n;
}
template <std::same_as<number> N>
constexpr number floor(N const& n, detail::refused_call<detail::not_of_numbers, N> const& = {}) {
  return n;
}

}  // namespace meshtensor

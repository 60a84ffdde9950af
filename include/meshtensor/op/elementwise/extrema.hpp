// SPDX-License-Identifier: Apache-2.0
// The larger or the smaller of two elements, and of each element and 0.
#pragma once

#include "meshtensor/op/elementwise/derivative.hpp"
#include "meshtensor/op/elementwise/function_call.hpp"

namespace meshtensor {

/// Each element, or 0 where it is negative. A NaN stays one.
///
/// grad    dy where x > 0, else 0
template <elementwise_operands H>
constexpr auto relu(H const& x, detail::line_of<function::relu, H> const& where = {}) {
  return elementwise_at(fn<function::relu>{}, where, x);
}
template <>
struct derivative<function::relu> {
  static constexpr void give(differentiated_function const& f) {
    // y <= 0 where x <= 0, and y is kept more often, because later nodes read it
    f.give(0, [&] {
      return select(f.b, {elementwise(f.b, function::less_equal, {f.y(), f.number(0)}), f.number(0), f.dy});
    });
  }
};
/// The larger of two elements. The operands broadcast by name, and one of them may be a number. If either is NaN, the
/// result is NaN. For the largest element along a dim, see `max`.
///
/// dims    the dims of both operands, in order of first appearance
/// grad    to the larger operand, and half to each of two equal ones
template <class A, class B>
requires elementwise_operands<A, B>
constexpr auto maximum(A const& a, B const& b, detail::line_of<function::maximum, A, B> const& where = {}) {
  return elementwise_at(fn<function::maximum>{}, where, a, b);
}
/// The smaller of two elements. The operands broadcast by name, and one of them may be a number. If either is NaN, the
/// result is NaN. For the smallest element along a dim, see `min`.
///
/// dims    the dims of both operands, in order of first appearance
/// grad    to the smaller operand, and half to each of two equal ones
template <class A, class B>
requires elementwise_operands<A, B>
constexpr auto minimum(A const& a, B const& b, detail::line_of<function::minimum, A, B> const& where = {}) {
  return elementwise_at(fn<function::minimum>{}, where, a, b);
}

/// The derivative of `maximum` or `minimum`. Ties share it. With a NaN no comparison holds, so both operands get all of
/// it.
template <bool IsMax>
struct derivative_of_extremum {
  static constexpr void give(differentiated_function const& f) {
    auto share = [&] {
      return select(f.b, {elementwise(f.b, function::equal, {f.x(), f.z()}), scale(f.b, f.dy, 0.5), f.dy});
    };
    auto less = [&](bool first) {
      return elementwise(f.b, function::less, {first ? f.x() : f.z(), first ? f.z() : f.x()});
    };
    f.give(0, [&] { return select(f.b, {less(IsMax), f.number(0), share()}); });
    f.give(1, [&] { return select(f.b, {less(!IsMax), f.number(0), share()}); });
  }
};
template <>
struct derivative<function::maximum> : derivative_of_extremum<true> {};
template <>
struct derivative<function::minimum> : derivative_of_extremum<false> {};

}  // namespace meshtensor

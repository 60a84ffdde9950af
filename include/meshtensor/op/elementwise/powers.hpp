// SPDX-License-Identifier: Apache-2.0
// Powers and roots of each element.
#pragma once

#include "meshtensor/op/elementwise/derivative.hpp"
#include "meshtensor/op/elementwise/function_call.hpp"

namespace meshtensor {

/// The square root of each element, which is NaN below 0. Numbers have it, too: `scores / sqrt(extent(d_head))`.
///
/// grad    dy / (2 √x), which is infinite at 0
template <elementwise_operands H>
constexpr auto sqrt(H const& x, detail::line_of<function::sqrt, H> const& where = {}) {
  return elementwise_at(fn<function::sqrt>{}, where, x);
}
template <>
struct derivative<function::sqrt> {
  static constexpr void give(differentiated_function const& f) {
    f.give(0, [&] { return divide(f.b, {scale(f.b, f.dy, 0.5), f.y()}); });
  }
};
/// One divided by the square root of each element. Numbers have it, too.
///
/// grad    −dy / (2 x √x)
template <elementwise_operands H>
constexpr auto rsqrt(H const& x, detail::line_of<function::rsqrt, H> const& where = {}) {
  return elementwise_at(fn<function::rsqrt>{}, where, x);
}
template <>
struct derivative<function::rsqrt> {
  static constexpr void give(differentiated_function const& f) {
    // y = x^(-1/2), dy/dx = -y / (2 x)
    f.give(0, [&] { return divide(f.b, {multiply(f.b, {scale(f.b, f.dy, -0.5), f.y()}), f.x()}); });
  }
};
/// The first operand to the power of the second. The operands broadcast by name, and one of them may be a number. Two
/// numbers have it, too.
///
/// dims    the dims of both operands, in order of first appearance
/// grad    dy · b · a^(b − 1) for the first, dy · a^b · log(a) for the second, where a is positive
template <class A, class B>
requires elementwise_operands<A, B>
constexpr auto power(A const& a, B const& b, detail::line_of<function::power, A, B> const& where = {}) {
  return elementwise_at(fn<function::power>{}, where, a, b);
}
template <>
struct derivative<function::power> {
  static constexpr void give(differentiated_function const& f) {
    f.give(0, [&] {
      value_id const less_one = subtract(f.b, {f.z(), f.number(1)});
      value_id const term =
          multiply(f.b, f.dy, multiply(f.b, {f.z(), elementwise(f.b, function::power, f.x(), less_one)}));
      if (number_value const* exponent = literal_of(f.b.m, f.operand(1)); exponent != nullptr && !(*exponent == 0))
        return term;
      // x^0 is 1 at 0, too
      return select(f.b, {elementwise(f.b, function::equal, {f.z(), f.number(0)}), f.number(0), term});
    });
    // the exponent's gradient is y log x, and at x = 0 its limit, 0
    f.give(1, [&] {
      value_id const positive = elementwise(f.b, function::less, {f.number(0), f.x()});
      value_id const safe = select(f.b, {positive, f.x(), f.number(1)});
      return multiply(f.b, f.dy, multiply(f.b, {f.y(), elementwise(f.b, function::log, safe)}));
    });
  }
};
/// `power` by the name that C++ has for it.
template <class A, class B>
requires elementwise_operands<A, B>
constexpr auto pow(A const& a, B const& b, detail::line_of<function::power, A, B> const& where = {}) {
  return elementwise_at(fn<function::power>{}, where, a, b);
}

}  // namespace meshtensor

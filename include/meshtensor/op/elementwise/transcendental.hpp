// SPDX-License-Identifier: Apache-2.0
// Exponential, logarithmic, trigonometric and hyperbolic functions of each element.
#pragma once

#include <concepts>

#include "meshtensor/op/elementwise/derivative.hpp"
#include "meshtensor/op/elementwise/function_call.hpp"

namespace meshtensor {

/// The exponential function of each element. Numbers have it, too.
///
/// grad    dy · exp(x)
template <elementwise_operands H>
constexpr auto exp(H const& x, detail::line_of<function::exp, H> const& where = {}) {
  return elementwise_at(fn<function::exp>{}, where, x);
}
template <>
struct derivative<function::exp> {
  static constexpr void give(differentiated_function const& f) {
    f.give(0, [&] { return multiply(f.b, f.dy, f.y()); });
  }
};
/// The natural logarithm of each element. It is NaN below 0 and minus infinity at 0. Numbers have it, too.
///
/// grad    dy / x
template <elementwise_operands H>
constexpr auto log(H const& x, detail::line_of<function::log, H> const& where = {}) {
  return elementwise_at(fn<function::log>{}, where, x);
}
template <>
struct derivative<function::log> {
  static constexpr void give(differentiated_function const& f) {
    f.give(0, [&] { return divide(f.b, f.dy, f.x()); });
  }
};
/// The sine of each element, in radians.
///
/// grad    dy · cos(x)
template <elementwise_operands H>
constexpr auto sin(H const& x, detail::line_of<function::sin, H> const& where = {}) {
  return elementwise_at(fn<function::sin>{}, where, x);
}
template <>
struct derivative<function::sin> {
  static constexpr void give(differentiated_function const& f) {
    f.give(0, [&] { return multiply(f.b, f.dy, elementwise(f.b, function::cos, f.x())); });
  }
};
/// The cosine of each element, in radians. Numbers have it, too.
///
/// grad    −dy · sin(x)
template <elementwise_operands H>
constexpr auto cos(H const& x, detail::line_of<function::cos, H> const& where = {}) {
  return elementwise_at(fn<function::cos>{}, where, x);
}
template <>
struct derivative<function::cos> {
  static constexpr void give(differentiated_function const& f) {
    f.give(0, [&] { return negate(f.b, multiply(f.b, f.dy, elementwise(f.b, function::sin, f.x()))); });
  }
};
/// The hyperbolic tangent of each element, between -1 and 1.
///
/// grad    dy · (1 − tanh(x)²)
template <elementwise_operands H>
constexpr auto tanh(H const& x, detail::line_of<function::tanh, H> const& where = {}) {
  return elementwise_at(fn<function::tanh>{}, where, x);
}
template <>
struct derivative<function::tanh> {
  static constexpr void give(differentiated_function const& f) {
    f.give(0, [&] {
      value_id const t = f.y();
      return multiply(f.b, f.dy, subtract(f.b, {f.number(1), multiply(f.b, t, t)}));
    });
  }
};
/// The logistic function of each element, 1 / (1 + exp(−x)), between 0 and 1.
///
/// grad    dy · y · (1 − y)
template <elementwise_operands H>
constexpr auto sigmoid(H const& x, detail::line_of<function::sigmoid, H> const& where = {}) {
  return elementwise_at(fn<function::sigmoid>{}, where, x);
}
template <>
struct derivative<function::sigmoid> {
  static constexpr void give(differentiated_function const& f) {
    f.give(0, [&] {
      value_id const s = f.y();
      return multiply(f.b, f.dy, multiply(f.b, s, subtract(f.b, f.number(1), s)));
    });
  }
};
/// The error function of each element: 2 / √π times the integral of exp(−t²) from 0 to x. For example, `gelu` is made
/// with it.
///
/// grad    dy · 2 / √π · exp(−x²)
template <elementwise_operands H>
constexpr auto erf(H const& x, detail::line_of<function::erf, H> const& where = {}) {
  return elementwise_at(fn<function::erf>{}, where, x);
}
template <>
struct derivative<function::erf> {
  static constexpr void give(differentiated_function const& f) {
    f.give(0, [&] {
      value_id const t = f.x();
      value_id const bell = elementwise(f.b, function::exp, negate(f.b, multiply(f.b, t, t)));
      return multiply(f.b, f.dy, scale(f.b, bell, 1.1283791670955125739));
    });
  }
};

/// Rejects a number as the operand of functions that only tensors have.
template <std::same_as<number> N>
constexpr number sin(N const& n, detail::refused_call<detail::not_of_numbers, N> const& = {}) {
  return n;
}
template <std::same_as<number> N>
constexpr number tanh(N const& n, detail::refused_call<detail::not_of_numbers, N> const& = {}) {
  return n;
}

}  // namespace meshtensor

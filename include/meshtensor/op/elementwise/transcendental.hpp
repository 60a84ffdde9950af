// SPDX-License-Identifier: Apache-2.0
// Exponential, logarithmic, trigonometric and hyperbolic functions of each element.
#pragma once

#include <concepts>

#include "meshtensor/op/elementwise/function_call.hpp"

namespace meshtensor {

/// The exponential function of each element. Numbers have it, too.
///
/// grad    dy · exp(x)
template <handle H>
constexpr auto exp(H const& x, detail::line_of<function::exp, H> const& where = {}) {
  return elementwise_at(fn<function::exp>{}, where, x);
}
/// The natural logarithm of each element. It is NaN below 0 and minus infinity at 0. Numbers have it, too.
///
/// grad    dy / x
template <handle H>
constexpr auto log(H const& x, detail::line_of<function::log, H> const& where = {}) {
  return elementwise_at(fn<function::log>{}, where, x);
}
/// The sine of each element, in radians.
///
/// grad    dy · cos(x)
template <handle H>
constexpr auto sin(H const& x, detail::line_of<function::sin, H> const& where = {}) {
  return elementwise_at(fn<function::sin>{}, where, x);
}
/// The cosine of each element, in radians. Numbers have it, too.
///
/// grad    −dy · sin(x)
template <handle H>
constexpr auto cos(H const& x, detail::line_of<function::cos, H> const& where = {}) {
  return elementwise_at(fn<function::cos>{}, where, x);
}
/// The hyperbolic tangent of each element, between -1 and 1.
///
/// grad    dy · (1 − tanh(x)²)
template <handle H>
constexpr auto tanh(H const& x, detail::line_of<function::tanh, H> const& where = {}) {
  return elementwise_at(fn<function::tanh>{}, where, x);
}
/// The logistic function of each element, 1 / (1 + exp(−x)), between 0 and 1.
///
/// grad    dy · y · (1 − y)
template <handle H>
constexpr auto sigmoid(H const& x, detail::line_of<function::sigmoid, H> const& where = {}) {
  return elementwise_at(fn<function::sigmoid>{}, where, x);
}
/// The error function of each element: 2 / √π times the integral of exp(−t²) from 0 to x. For example, `gelu` is made
/// with it.
///
/// grad    dy · 2 / √π · exp(−x²)
template <handle H>
constexpr auto erf(H const& x, detail::line_of<function::erf, H> const& where = {}) {
  return elementwise_at(fn<function::erf>{}, where, x);
}

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

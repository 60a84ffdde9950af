// SPDX-License-Identifier: Apache-2.0
// Powers and roots of each element.
#pragma once

#include "meshtensor/op/elementwise/function_call.hpp"

namespace meshtensor {

/// The square root of each element, which is NaN below 0. Numbers have it, too: `scores / sqrt(extent(d_head))`.
///
/// grad    dy / (2 √x), which is infinite at 0
template <handle H>
constexpr auto sqrt(H const& x, detail::line_of<function::sqrt, H> const& where = {}) {
  return elementwise_at(fn<function::sqrt>{}, where, x);
}
/// One divided by the square root of each element. Numbers have it, too.
///
/// grad    −dy / (2 x √x)
template <handle H>
constexpr auto rsqrt(H const& x, detail::line_of<function::rsqrt, H> const& where = {}) {
  return elementwise_at(fn<function::rsqrt>{}, where, x);
}
/// The first operand to the power of the second. The operands broadcast by name, and one of them may be a number. Two
/// numbers have it, too.
///
/// dims    the dims of both operands, in order of first appearance
/// grad    dy · b · a^(b − 1) for the first, dy · a^b · log(a) for the second, where a is positive
template <operand_like A, operand_like B>
requires(handle<A> || handle<B>)
constexpr auto power(A const& a, B const& b, detail::line_of<function::power, A, B> const& where = {}) {
  return elementwise_at(fn<function::power>{}, where, a, b);
}
/// `power` by the name that C++ has for it.
template <operand_like A, operand_like B>
requires(handle<A> || handle<B>)
constexpr auto pow(A const& a, B const& b, detail::line_of<function::power, A, B> const& where = {}) {
  return elementwise_at(fn<function::power>{}, where, a, b);
}

}  // namespace meshtensor

// SPDX-License-Identifier: Apache-2.0
// The larger or the smaller of two elements, and of each element and 0.
#pragma once

#include "meshtensor/op/elementwise/function_call.hpp"

namespace meshtensor {

/// Each element, or 0 where it is negative. A NaN stays one.
///
/// grad    dy where x > 0, else 0
template <handle H>
constexpr auto relu(H const& x, detail::line_of<function::relu, H> const& where = {}) {
  return elementwise_at(fn<function::relu>{}, where, x);
}
/// The larger of two elements. The operands broadcast by name, and one of them may be a number. If either is NaN, the
/// result is NaN. For the largest element along a dim, see `max`.
///
/// dims    the dims of both operands, in order of first appearance
/// grad    to the larger operand, and half to each of two equal ones
template <operand_like A, operand_like B>
requires(handle<A> || handle<B>)
constexpr auto maximum(A const& a, B const& b, detail::line_of<function::maximum, A, B> const& where = {}) {
  return elementwise_at(fn<function::maximum>{}, where, a, b);
}
/// The smaller of two elements. The operands broadcast by name, and one of them may be a number. If either is NaN, the
/// result is NaN. For the smallest element along a dim, see `min`.
///
/// dims    the dims of both operands, in order of first appearance
/// grad    to the smaller operand, and half to each of two equal ones
template <operand_like A, operand_like B>
requires(handle<A> || handle<B>)
constexpr auto minimum(A const& a, B const& b, detail::line_of<function::minimum, A, B> const& where = {}) {
  return elementwise_at(fn<function::minimum>{}, where, a, b);
}

}  // namespace meshtensor

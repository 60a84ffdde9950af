// SPDX-License-Identifier: Apache-2.0
// The operators of tensor handles, such as x + y and x < 0.
#pragma once

#include <concepts>

#include "meshtensor/base/function.hpp"
#include "meshtensor/tensor/call.hpp"
#include "meshtensor/tensor/handle.hpp"

namespace meshtensor {

/// A scalar function as an argument.
template <function F>
struct fn {};

namespace detail {
/// The error of a scalar function that does not take these operands, as `type` (op/elementwise.hpp).
template <function F, class... H>
struct function_finding;
}  // namespace detail

/// The operators of a handle. Operands broadcast by name, and a number takes the handle's dtype. Argument-dependent
/// lookup finds the operators only for handles, so they do not clash with other operators in a user's namespace.
template <class Self>
struct arithmetic {
 private:
  /// The handle among the operands of a function, with its line and the error in their types, if there is one.
  template <function F, class... H>
  using operand_of = at<Self, typename detail::function_finding<F, H...>::type>;

 public:
  template <operand_like B>
  friend constexpr auto operator+(operand_of<function::add, Self, B> a, B const& b) {
    return elementwise_at(fn<function::add>{}, a.where, a.operand, b);
  }
  template <operand_like B>
  friend constexpr auto operator-(operand_of<function::subtract, Self, B> a, B const& b) {
    return elementwise_at(fn<function::subtract>{}, a.where, a.operand, b);
  }
  template <operand_like B>
  friend constexpr auto operator*(operand_of<function::multiply, Self, B> a, B const& b) {
    return elementwise_at(fn<function::multiply>{}, a.where, a.operand, b);
  }
  template <operand_like B>
  friend constexpr auto operator/(operand_of<function::divide, Self, B> a, B const& b) {
    return elementwise_at(fn<function::divide>{}, a.where, a.operand, b);
  }
  template <operand_like B>
  friend constexpr auto operator%(operand_of<function::modulo, Self, B> a, B const& b) {
    return elementwise_at(fn<function::modulo>{}, a.where, a.operand, b);
  }
  template <number_like B>
  friend constexpr auto operator==(operand_of<function::equal, Self, B> a, B const& b) {
    return elementwise_at(fn<function::equal>{}, a.where, a.operand, b);
  }
  template <number_like B>
  friend constexpr auto operator!=(operand_of<function::not_equal, Self, B> a, B const& b) {
    return elementwise_at(fn<function::not_equal>{}, a.where, a.operand, b);
  }
  // Comparisons of two handles take them without the conversion to `at`, because the conversion would make x == y
  // ambiguous with y == x. Therefore the node gets the line of the node before it.
  template <handle B>
  friend constexpr auto operator==(Self const& a, B const& b) {
    return elementwise(fn<function::equal>{}, line::unknown(), a, b);
  }
  template <handle B>
  friend constexpr auto operator!=(Self const& a, B const& b) {
    return elementwise(fn<function::not_equal>{}, line::unknown(), a, b);
  }
  template <operand_like B>
  friend constexpr auto operator<(operand_of<function::less, Self, B> a, B const& b) {
    return elementwise_at(fn<function::less>{}, a.where, a.operand, b);
  }
  template <operand_like B>
  friend constexpr auto operator<=(operand_of<function::less_equal, Self, B> a, B const& b) {
    return elementwise_at(fn<function::less_equal>{}, a.where, a.operand, b);
  }
  template <operand_like B>
  friend constexpr auto operator>(operand_of<function::less, B, Self> a, B const& b) {
    return elementwise_at(fn<function::less>{}, a.where, b, a.operand);
  }
  template <operand_like B>
  friend constexpr auto operator>=(operand_of<function::less_equal, B, Self> a, B const& b) {
    return elementwise_at(fn<function::less_equal>{}, a.where, b, a.operand);
  }
  template <handle B>
  friend constexpr auto operator&&(operand_of<function::logical_and, Self, B> a, B const& b) {
    return elementwise_at(fn<function::logical_and>{}, a.where, a.operand, b);
  }
  template <handle B>
  friend constexpr auto operator||(operand_of<function::logical_or, Self, B> a, B const& b) {
    return elementwise_at(fn<function::logical_or>{}, a.where, a.operand, b);
  }
  template <number_like A>
  friend constexpr auto operator+(A const& a, operand_of<function::add, A, Self> b) {
    return elementwise_at(fn<function::add>{}, b.where, a, b.operand);
  }
  template <number_like A>
  friend constexpr auto operator-(A const& a, operand_of<function::subtract, A, Self> b) {
    return elementwise_at(fn<function::subtract>{}, b.where, a, b.operand);
  }
  template <number_like A>
  friend constexpr auto operator*(A const& a, operand_of<function::multiply, A, Self> b) {
    return elementwise_at(fn<function::multiply>{}, b.where, a, b.operand);
  }
  template <number_like A>
  friend constexpr auto operator/(A const& a, operand_of<function::divide, A, Self> b) {
    return elementwise_at(fn<function::divide>{}, b.where, a, b.operand);
  }
  template <std::same_as<Self> H = Self>  // a template, because the handle is not complete here
  friend constexpr auto operator-(operand_of<function::negate, H> a) {
    return elementwise_at(fn<function::negate>{}, a.where, a.operand);
  }
  // This operator does without the conversion to `at`, because `!` would be ambiguous with the conversion to bool
  // (unlike_arrays).
  friend constexpr auto operator!(Self const& a) {
    return elementwise(fn<function::logical_not>{}, line::unknown(), a);
  }
};

}  // namespace meshtensor

// SPDX-License-Identifier: Apache-2.0
// Defines the arithmetic, comparisons and logic of arrays, as operators.
#pragma once

#include "meshtensor/eager/array_operations/named_array.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace meshtensor {

template <class A, class B>
requires detail::array_operands<A, B>
auto operator+(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x + y; }, a, b);
}
template <class A, class B>
requires detail::array_operands<A, B>
auto operator-(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x - y; }, a, b);
}
template <class A, class B>
requires detail::array_operands<A, B>
auto operator*(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x * y; }, a, b);
}
template <class A, class B>
requires detail::array_operands<A, B>
auto operator/(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x / y; }, a, b);
}
template <named_array A, class B>
requires detail::array_operands<A, B>
auto operator%(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x % y; }, a, b);
}
template <named_array A, class B>
requires detail::array_operands<A, B>
auto operator<(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x < y; }, a, b);
}
template <named_array A, class B>
requires detail::array_operands<A, B>
auto operator<=(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x <= y; }, a, b);
}
template <named_array A, class B>
requires detail::array_operands<A, B>
auto operator>(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x > y; }, a, b);
}
template <named_array A, class B>
requires detail::array_operands<A, B>
auto operator>=(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x >= y; }, a, b);
}
template <named_array A, named_array B>
auto operator&&(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x && y; }, a, b);
}
template <named_array A, named_array B>
auto operator||(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return x || y; }, a, b);
}
template <named_array A>
auto operator-(A const& a) {
  return at_once([](auto const& x) { return -x; }, a);
}
template <named_array A>
auto operator!(A const& a) {
  return at_once([](auto const& x) { return !x; }, a);
}

}  // namespace meshtensor

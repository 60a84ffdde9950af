// SPDX-License-Identifier: Apache-2.0
// Defines the elementwise functions of arrays, for example `exp` and `maximum`.
#pragma once

#include "meshtensor/eager/array_operations/named_array.hpp"
#include "meshtensor/op/activation.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace meshtensor {

template <named_array A>
auto exp(A const& a) {
  return at_once([](auto const& x) { return exp(x); }, a);
}
template <named_array A>
auto log(A const& a) {
  return at_once([](auto const& x) { return log(x); }, a);
}
template <named_array A>
auto sqrt(A const& a) {
  return at_once([](auto const& x) { return sqrt(x); }, a);
}
template <named_array A>
auto rsqrt(A const& a) {
  return at_once([](auto const& x) { return rsqrt(x); }, a);
}
template <named_array A>
auto sin(A const& a) {
  return at_once([](auto const& x) { return sin(x); }, a);
}
template <named_array A>
auto cos(A const& a) {
  return at_once([](auto const& x) { return cos(x); }, a);
}
template <named_array A>
auto tanh(A const& a) {
  return at_once([](auto const& x) { return tanh(x); }, a);
}
template <named_array A>
auto sigmoid(A const& a) {
  return at_once([](auto const& x) { return sigmoid(x); }, a);
}
template <named_array A>
auto erf(A const& a) {
  return at_once([](auto const& x) { return erf(x); }, a);
}
template <named_array A>
auto relu(A const& a) {
  return at_once([](auto const& x) { return relu(x); }, a);
}
template <named_array A>
auto gelu(A const& a) {
  return at_once([](auto const& x) { return gelu(x); }, a);
}
template <named_array A>
auto gelu_tanh(A const& a) {
  return at_once([](auto const& x) { return gelu_tanh(x); }, a);
}
template <named_array A>
auto silu(A const& a) {
  return at_once([](auto const& x) { return silu(x); }, a);
}
template <named_array A>
auto softsign(A const& a) {
  return at_once([](auto const& x) { return softsign(x); }, a);
}
template <named_array A>
auto abs(A const& a) {
  return at_once([](auto const& x) { return abs(x); }, a);
}
template <named_array A>
auto sign(A const& a) {
  return at_once([](auto const& x) { return sign(x); }, a);
}
template <named_array A>
auto floor(A const& a) {
  return at_once([](auto const& x) { return floor(x); }, a);
}
template <dtype T, named_array A>
auto cast(A const& a) {
  return at_once([](auto const& x) { return cast<T>(x); }, a);
}
template <class A, class B>
requires detail::array_operands<A, B>
auto maximum(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return maximum(x, y); }, a, b);
}
template <class A, class B>
requires detail::array_operands<A, B>
auto minimum(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return minimum(x, y); }, a, b);
}
template <class A, class B>
requires detail::array_operands<A, B>
auto power(A const& a, B const& b) {
  return at_once([](auto const& x, auto const& y) { return power(x, y); }, a, b);
}
template <named_array C, class A, class B>
auto select(C const& condition, A const& yes, B const& no) {
  return at_once([](auto const& c, auto const& x, auto const& y) { return select(c, x, y); }, condition, yes, no);
}

}  // namespace meshtensor

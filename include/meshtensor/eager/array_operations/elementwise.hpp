// SPDX-License-Identifier: Apache-2.0
// Defines the elementwise functions of arrays, for example `exp` and `maximum`.
#pragma once

#include <type_traits>

#include "meshtensor/eager/array_operations/named_array.hpp"
#include "meshtensor/op/activation.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace meshtensor {

/// Arrays have all functions of op/elementwise/, for example `exp(a)` and `maximum(a, 0)`.
template <class... T>
requires((named_array<T> || number_like<T>) && ...) && (named_array<T> || ...)
inline constexpr bool are_computed_at_once<T...> = true;

template <function F, class... A>
requires are_computed_at_once<A...>
auto elementwise_at(fn<F> f, line const&, A const&... a) {
  return at_once(
      [f](auto const&... x) {
        return elementwise_at(f, detail::line_of<F, std::remove_cvref_t<decltype(x)>...>{}, x...);
      },
      a...);
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
template <dtype T, named_array A>
auto cast(A const& a) {
  return at_once([](auto const& x) { return cast<T>(x); }, a);
}
template <named_array C, class A, class B>
auto select(C const& condition, A const& yes, B const& no) {
  return at_once([](auto const& c, auto const& x, auto const& y) { return select(c, x, y); }, condition, yes, no);
}

}  // namespace meshtensor

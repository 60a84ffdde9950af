// SPDX-License-Identifier: Apache-2.0
// Defines contractions of arrays, which sum over dims or over windows: einsum, convolutions and pools.
#pragma once

#include "meshtensor/eager/array_operations/named_array.hpp"
#include "meshtensor/op/conv.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/grouped_einsum.hpp"
#include "meshtensor/op/pool.hpp"

namespace meshtensor {

template <named_array A, class... More>
auto einsum(A const& a, More const&... more) {
  return at_once([](auto const&... x) { return einsum(x...); }, a, more...);
}
template <named_array A, named_array B, named_array I, dim_type D, dim_type... T>
auto grouped_einsum(A const& a, B const& b, I const& index, D groups, to_dims<T...> result) {
  return at_once(
      [](auto const& x, auto const& y, auto const& i, auto d, auto t) { return grouped_einsum(x, y, i, d, t); }, a, b,
      index, groups, result);
}
template <named_array A, named_array B, dim_type... T, class... W>
auto conv(A const& a, B const& kernel, to_dims<T...> result, W const&... windows) {
  return at_once([&](auto const& x, auto const& k, auto t) { return conv(x, k, t, windows...); }, a, kernel, result);
}
template <named_array A, named_array B, dim_type... T, class... W>
auto conv_transposed(A const& a, B const& kernel, to_dims<T...> result, W const&... windows) {
  return at_once([&](auto const& x, auto const& k, auto t) { return conv_transposed(x, k, t, windows...); }, a, kernel,
                 result);
}
template <named_array A, class... W>
auto max_pool(A const& a, W const&... windows) {
  return at_once([&](auto const& x) { return max_pool(x, windows...); }, a);
}
template <named_array A, class... W>
auto sum_pool(A const& a, W const&... windows) {
  return at_once([&](auto const& x) { return sum_pool(x, windows...); }, a);
}
template <named_array A, class... W>  // a mean_over may follow the windows
auto mean_pool(A const& a, W const&... windows) {
  return at_once([&](auto const& x) { return mean_pool(x, windows...); }, a);
}

}  // namespace meshtensor

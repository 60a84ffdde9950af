// SPDX-License-Identifier: Apache-2.0
// The dims of a pool's result: each window's output in the place of its input.
#pragma once

#include <type_traits>

#include "meshtensor/op/window.hpp"

namespace meshtensor {

namespace detail {

template <class W>
struct window_dims;
template <class I, class O>
struct window_dims<window_of_size<I, O>> {
  using input = I;
  using output = O;
  static constexpr bool has_fixed_size = true;
};
template <class I, class O, class K>
struct window_dims<window_along<I, O, K>> {
  using input = I;
  using output = O;
  static constexpr bool has_fixed_size = K::dim_rule.kind == extent_rule::fixed;
};

/// The dim of a pool's result in the place of `D`.
template <class D, class... W>
struct dim_after {
  using type = D;
};
template <class D, class W, class... Rest>
struct dim_after<D, W, Rest...> {
  using type = std::conditional_t<same_dim<D, typename window_dims<W>::input>, typename window_dims<W>::output,
                                  typename dim_after<D, Rest...>::type>;
};
template <class List, class... W>
struct dims_after {
  using type = any_dims;
};
template <class... D, class... W>
struct dims_after<dims<D...>, W...> {
  using type = dims<typename dim_after<D, W...>::type...>;
};
template <class X, class W>
inline constexpr bool gives_new_dim =
    same_dim<typename window_dims<W>::input, typename window_dims<W>::output> || is_any<typename X::dim_list> ||
    !has_dim_v<typename X::dim_list, typename window_dims<W>::output>;

}  // namespace detail

/// A window of a pool: `window(rows, rows_2, 3, …)`, or one with a kernel's dim of fixed extent.
template <class W>
concept window_of_pool = requires { typename detail::window_dims<W>::input; };

}  // namespace meshtensor

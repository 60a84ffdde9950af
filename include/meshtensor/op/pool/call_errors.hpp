// SPDX-License-Identifier: Apache-2.0
// The errors that the types of a call of a pool show.
#pragma once

#include <cstdint>

#include "meshtensor/op/detail/record.hpp"
#include "meshtensor/op/pool/result_dims.hpp"
#include "meshtensor/op/window.hpp"

namespace meshtensor {

namespace detail {

struct pool_of_any_number {
  static constexpr bool of_floats_alone = false;
};
struct pool_of_floats {
  static constexpr bool of_floats_alone = true;
};
template <class W>
concept window_of_any_pool = requires { typename window_dims<W>::input; };
/// The first error that the types of a pool over these windows show, or `no_error`.
template <class Pool, handle X, window_of_any_pool... W>
consteval auto pool_finding() {
  if constexpr (Pool::of_floats_alone && !of_float<X>)
    return refusal<"T04 mean_pool takes a tensor of floats: cast the operand", X>{};
  else if constexpr (of_bool<X>) return refusal<"T04 pool of bools: cast the operand", X>{};
  else if constexpr (!(has_dim<X, typename window_dims<W>::input> && ...))
    return refusal<"T01 pool: the operand lacks a dim over which a window moves", X,
                   typename window_dims<W>::input...>{};
  else if constexpr (!(gives_new_dim<X, W> && ...))
    return refusal<"T03 pool: the operand has the dim that a window gives already", X,
                   typename window_dims<W>::output...>{};
  else if constexpr (!(window_dims<W>::has_fixed_size && ...))
    return refusal<"T48 pool: the size of a window is not fixed: give it as a number", X>{};
  else if constexpr (!are_distinct<typename window_dims<W>::input...>() ||
                     !are_distinct<typename window_dims<W>::output...>())
    return refusal<"T45 pool: two windows share a dim: each moves along one and gives one",
                   typename window_dims<W>::input..., typename window_dims<W>::output...>{};
  else return no_error{};
}
/// The line of a call of a pool. It refuses the call if the types show an error.
template <class Pool, class... A>
using pool_line = checked_line<decltype(pool_finding<Pool, A...>())>;

}  // namespace detail

/// The elements whose number is the divisor of `mean_pool`.
enum class mean_over : std::uint8_t {
  window,    // all elements that the window spans, padding too: PyTorch's count_include_pad, which is its default
  elements,  // only those of the tensor
};

namespace detail {
inline constexpr literal needs_windows =
    "T36 a pool takes one to three windows: max_pool(x, mt::window(rows, rows_2, 3, {.stride = 2}), mt::window(cols, "
    "cols_2, 3)), not";
inline constexpr literal needs_windows_of_mean =
    "T36 mean_pool takes one to three windows, and perhaps mt::mean_over::elements: mean_pool(x, mt::window(rows, "
    "rows_2, 3, {.padding = {1, 1}}), mt::mean_over::elements), not";
/// Whether these are the arguments of a pool after the tensor: one to three windows, and then perhaps a `Last`.
template <class Last, class... A>
inline constexpr bool calls_pool = [] {
  constexpr std::size_t count = sizeof...(A);
  bool const windows[] = {window_of_pool<A>...}, absent[] = {std::is_same_v<A, none_given>...};
  bool const last[] = {std::is_same_v<A, Last>...};
  std::size_t given = 0;
  while (given < count && windows[given]) ++given;
  bool const is_one_to_three = given >= 1 && given <= 3;
  if (given < count && last[given]) ++given;
  while (given < count && absent[given]) ++given;
  return is_one_to_three && given == count;
}();
}  // namespace detail

template <handle X, detail::argument A = detail::none_given, detail::argument B = detail::none_given,
          detail::argument C = detail::none_given, detail::argument D = detail::none_given>
requires(!detail::calls_pool<detail::none_given, A, B, C, D>)
constexpr auto max_pool(X const& x, A const& = {}, B const& = {}, C const& = {}, D const& = {},
                        detail::refused_call<detail::needs_windows, X, A, B, C, D> const& = {}) {
  return detail::given_up(x);
}
template <handle X, detail::argument A = detail::none_given, detail::argument B = detail::none_given,
          detail::argument C = detail::none_given, detail::argument D = detail::none_given>
requires(!detail::calls_pool<detail::none_given, A, B, C, D>)
constexpr auto sum_pool(X const& x, A const& = {}, B const& = {}, C const& = {}, D const& = {},
                        detail::refused_call<detail::needs_windows, X, A, B, C, D> const& = {}) {
  return detail::given_up(x);
}
template <handle X, detail::argument A = detail::none_given, detail::argument B = detail::none_given,
          detail::argument C = detail::none_given, detail::argument D = detail::none_given>
requires(!detail::calls_pool<mean_over, A, B, C, D>)
constexpr auto mean_pool(X const& x, A const& = {}, B const& = {}, C const& = {}, D const& = {},
                         detail::refused_call<detail::needs_windows_of_mean, X, A, B, C, D> const& = {}) {
  return detail::given_up(x);
}

}  // namespace meshtensor

// SPDX-License-Identifier: Apache-2.0
// The errors that the types of a call of conv or conv_transposed show.
#pragma once

#include <tuple>
#include <type_traits>

#include "meshtensor/op/broadcast.hpp"
#include "meshtensor/op/detail/record.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/window.hpp"

namespace meshtensor {

namespace detail {

template <class D, class... W>
inline constexpr bool is_of_window = false;
template <class D, class... I, class... O, class... K>
inline constexpr bool is_of_window<D, window_along<I, O, K>...> = ((same_dim<D, I> || same_dim<D, O>) || ...);

/// Whether these are the arguments of a convolution. Windows after the first one may be missing.
template <class W>
inline constexpr bool may_be_window = std::is_same_v<W, none_given>;
template <class I, class O, class K>
inline constexpr bool may_be_window<window_along<I, O, K>> = true;
template <class X, class K, class To, class First, class Second, class Third, class More>
inline constexpr bool calls_conv =
    handle<X> && handle<K> && is_to<To> && may_be_window<First> && !std::is_same_v<First, none_given> &&
    may_be_window<Second> && may_be_window<Third> && std::is_same_v<More, none_given>;

/// The code of a call that `calls_conv` does not accept: an operand, `to` or a window is missing or of another kind.
template <class X, class K, class To>
struct conv_code {
  static constexpr auto value = !handle<X> || !handle<K> ? literal("T37")
                                : !is_to<To>             ? literal("T26")
                                                         : literal("T36");
};

/// The refusal of a convolution or, if `Backward`, of a transposed one. `Words` are its sentence.
template <bool Backward, literal Words, class... Facts>
consteval auto conv_refusal() {
  if constexpr (Backward) return refusal<joined_words<literal("T01 conv_transposed: "), Words>, Facts...>{};
  else return refusal<joined_words<literal("T01 conv: "), Words>, Facts...>{};
}
template <class>
inline constexpr bool is_window = false;
template <class I, class O, class K>
inline constexpr bool is_window<window_along<I, O, K>> = true;

template <bool Backward, handle X, handle Y, class To, class... W>
requires(is_window<W> && ...)
consteval auto conv_finding() {
  return []<class... D, class... I, class... O, class... K>(to_dims<D...>,
                                                            std::tuple<window_along<I, O, K>...> const*) {
    constexpr bool traced = is_any<typename X::dim_list> || is_any<typename Y::dim_list>;
    using moved = std::conditional_t<Backward, dims<O...>, dims<I...>>;
    using given = std::conditional_t<Backward, dims<I...>, dims<O...>>;
    constexpr bool are_apart = are_distinct<I...>() && are_distinct<O...>() && are_distinct<K...>();
    if constexpr (X::type != Y::type) return refusal<"T02 the dtypes of the operands differ: cast one of them", X, Y>{};
    else if constexpr (of_bool<X>) return refusal<"T04 arithmetic on bool: cast the operand", X>{};
    else if constexpr (!are_apart)
      return []<class... M, class... G>(dims<M...>, dims<G...>) {
        return refusal<"T45 conv: two windows share a dim: each moves along one, gives one and has one of the kernel",
                       M..., G..., K...>{};
      }(moved{}, given{});
    else if constexpr (traced) return no_error{};
    else if constexpr (!has_all<X, moved>)
      return []<class... M>(dims<M...>) {
        if constexpr (Backward)
          return conv_refusal<true,
                              "the operand lacks the output of a window: take the windows of the convolution that it "
                              "leads back, window(input, output, kernel)",
                              X, M...>();
        else return conv_refusal<false, "the operand lacks a dim over which a window moves", X, M...>();
      }(moved{});
    else if constexpr (!(has_dim<Y, K> && ...))
      return conv_refusal<Backward, "the kernel lacks the dim of a window", Y, K...>();
    else if constexpr (!is_within_v<given, dims<D...>>)
      return []<class... G>(dims<G...>) {
        return conv_refusal<Backward, "the result lacks a dim that a window gives: name it in mt::to(...)", G...>();
      }(given{});
    else if constexpr (!((dim_of_any<D, X, Y> || is_of_window<D, window_along<I, O, K>...>) && ...))
      return conv_refusal<Backward, "no operand has a dim that the result names", X, Y, D...>();
    else return no_error{};
  }(To{}, static_cast<std::tuple<W...> const*>(nullptr));
}
/// The line of a call of a convolution. It refuses the call if the types show an error.
template <bool Backward, class... A>
using conv_line = checked_line<decltype(conv_finding<Backward, A...>())>;

}  // namespace detail

/// Rejects other arguments, for example a window of a pool, a number in the place of the kernel's dim, or dims without
/// `to`.
template <detail::argument A, detail::argument B = detail::none_given, detail::argument C = detail::none_given,
          detail::argument D = detail::none_given, detail::argument E = detail::none_given,
          detail::argument F = detail::none_given, detail::argument G = detail::none_given>
requires((handle<A> || handle<B>) && !detail::calls_conv<A, B, C, D, E, F, G>)
constexpr auto conv(
    A const& a, B const& b = {}, C const& = {}, D const& = {}, E const& = {}, F const& = {}, G const& = {},
    detail::refused_call_with<
        detail::conv_code<A, B, C>,
        "conv takes a tensor, a kernel, the dims of its result and one to three windows over dims of "
        "the kernel: conv(x, kernel, mt::to(batch, rows_2, c_out), mt::window(rows, rows_2, k_rows)), not",
        A, B, C, D, E, F, G> const& = {}) {
  return detail::given_up(a, b);
}

template <detail::argument A, detail::argument B = detail::none_given, detail::argument C = detail::none_given,
          detail::argument D = detail::none_given, detail::argument E = detail::none_given,
          detail::argument F = detail::none_given, detail::argument G = detail::none_given>
requires((handle<A> || handle<B>) && !detail::calls_conv<A, B, C, D, E, F, G>)
constexpr auto conv_transposed(
    A const& a, B const& b = {}, C const& = {}, D const& = {}, E const& = {}, F const& = {}, G const& = {},
    detail::refused_call_with<detail::conv_code<A, B, C>,
                              "conv_transposed takes a tensor, a kernel, the dims of its result and the windows of "
                              "the convolution that it leads back: conv_transposed(y, kernel, mt::to(batch, rows, "
                              "c_in), mt::window(rows, rows_2, k_rows)), not",
                              A, B, C, D, E, F, G> const& = {}) {
  return detail::given_up(a, b);
}

}  // namespace meshtensor

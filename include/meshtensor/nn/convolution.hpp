// SPDX-License-Identifier: Apache-2.0
// The convolution layer: a learned kernel over windows that move along one to three dims.
#pragma once

#include <tuple>

#include "meshtensor/graph/scope.hpp"
#include "meshtensor/nn/channels.hpp"
#include "meshtensor/op/broadcast.hpp"
#include "meshtensor/op/conv.hpp"

namespace meshtensor::nn {

/// He's initializer for the layers of a network of `relu`. It is normal with the variance 2 / fan, where the fan is the
/// product of the dims' extents. There are two choices. The paper and `convolution` name the dims that each output is
/// summed over. PyTorch's `fan_out` names the dims of the outputs that each input reaches:
/// `he_normal(k_rows, k_cols, c_out)`.
///
/// source  He et al., arXiv:1502.01852, section 2.2
template <dim_type... D>
constexpr initializer he_normal(D... fan) {
  return normal(sqrt(2 / (number(1) * ... * extent(fan))));
}

/// The type of `no_bias`. A convolution before a norm needs no bias, because the norm subtracts it anyway.
struct without_bias {};
/// The last argument of a `convolution` that has no bias.
inline constexpr without_bias no_bias{};

namespace detail {

template <class T>
constexpr std::tuple<> windows_in(T const&) {
  return {};
}
template <class I, class O, class K>
constexpr std::tuple<window_along<I, O, K>> windows_in(window_along<I, O, K> const& w) {
  return {w};
}
template <class T>
concept convolution_argument = std::is_same_v<T, initializer> || std::is_same_v<T, without_bias> ||
                               std::tuple_size_v<decltype(windows_in(std::declval<T const&>()))> == 1;
constexpr initializer chosen(initializer const& otherwise) { return otherwise; }
template <class First, class... Rest>
constexpr initializer chosen(initializer const& otherwise, First const& first, Rest const&... rest) {
  if constexpr (std::is_same_v<First, initializer>) return first;
  else return chosen(otherwise, rest...);
}

/// The dims of a convolution's result: those of `x`, with the outputs of windows in place of their inputs, and the
/// channels `into` in place of `from`, or last if `from` names none.
constexpr shape convolved_rule(shape const& x, shape const& from, shape const& into, shape const& inputs,
                               shape const& outputs) {
  shape r{};
  bool placed = false;
  for (int i = 0; i < x.count; ++i) {
    int const d = x.at[i];
    if (!from.has(d)) r.add(inputs.has(d) ? outputs.at[inputs.find(d)] : d);
    for (int k = 0; from.has(d) && !placed && k < into.count; ++k) r.add(into.at[k]);
    placed = placed || from.has(d);
  }
  return from.count == 0 ? united(r, into) : r;
}
/// The dims of a convolution's kernel: windows, groups, inputs, outputs. Devices take this order without a copy.
constexpr shape kernel_rule(shape const& windows, shape const& from, shape const& into) {
  shape const inputs = without(from, into), groups = without(from, inputs);
  return united(united(windows, groups), united(inputs, into));
}

template <bool Backward, class From, class Into>
struct convolution_of;
template <bool Backward, class... From, class... Into>
struct convolution_of<Backward, dims<From...>, dims<Into...>> {
  template <bool LacksNew, handle X>
  static consteval auto finding() {
    if constexpr (!(has_dim<X, From> && ...))
      return refused<"T01 ", ": the operand lacks channels that it maps from", X, From...>();
    else if constexpr (!LacksNew)
      return refused<"T03 ", ": the operand already has channels that it maps to", X, Into...>();
    else return no_error{};
  }
  template <scope S, handle X, class... I, class... O, class... K, class... Args>
  static constexpr auto apply(S const& s, X const& x, std::tuple<window_along<I, O, K>...> const& windows,
                              Args const&... args) {
    using kernel_dims = ruled_t<kernel_rule, dims<K...>, dims<From...>, dims<Into...>>;
    using summed = ruled_t<without, kernel_dims, dims<Into...>>;
    using moved = std::conditional_t<Backward, dims<O...>, dims<I...>>;
    using places = std::conditional_t<Backward, dims<I...>, dims<O...>>;
    using result = ruled_t<convolved_rule, typename X::dim_list, dims<From...>, dims<Into...>, moved, places>;
    initializer const he = []<class... D>(dims<D...>) { return he_normal(D{}...); }(summed{});
    auto const kernel = [&]<class... D>(dims<D...>) {
      return s.parameter("kernel", D{}..., chosen(he, args...));
    }(kernel_dims{});
    auto const y = [&]<class... D>(dims<D...>) {
      return std::apply(
          [&](auto const&... w) {
            return meshtensor::detail::record_conv<Backward>(line::unknown(), x, kernel, to_dims<D...>{}, w...);
          },
          windows);
    }(result{});
    if constexpr ((std::is_same_v<Args, without_bias> || ...)) return y;
    else return y + s.parameter("bias", Into{}..., zeros);
  }

 private:
  template <meshtensor::detail::literal Code, meshtensor::detail::literal Words, class... Facts>
  static consteval auto refused() {
    using meshtensor::detail::joined_words, meshtensor::detail::literal, meshtensor::detail::refusal;
    if constexpr (Backward) return refusal<joined_words<Code, literal("convolution_transposed"), Words>, Facts...>{};
    else return refusal<joined_words<Code, literal("convolution"), Words>, Facts...>{};
  }
};

/// Whether `x` lacks the dims that the layer makes. If both channels are lists, they may share dims, which are groups.
/// Two single dims must differ.
template <class X, class From, class Into>
inline constexpr bool lacks_new = false;
template <class X, class... From, class... Into>
inline constexpr bool lacks_new<X, to_dims<From...>, to_dims<Into...>> =
    ((meshtensor::detail::lacks_dim<X, Into> || has_dim_v<dims<From...>, Into>) && ...);
template <class X, dim_type From, class... Into>
inline constexpr bool lacks_new<X, From, to_dims<Into...>> = (meshtensor::detail::lacks_dim<X, Into> && ...);
template <class X, class From, dim_type Into>
inline constexpr bool lacks_new<X, From, Into> = meshtensor::detail::lacks_dim<X, Into>;

template <bool Backward>
struct convolution_body {
  static constexpr meshtensor::detail::literal usage{
      "T18 convolution takes a scope, x, c_in, c_out and windows, then perhaps no_bias or an initializer, not a scope "
      "and"};
  template <handle X, channels From, channels Into, convolution_argument... Args>
  static consteval auto finding() {
    constexpr auto count = std::tuple_size_v<decltype(std::tuple_cat(windows_in(std::declval<Args const&>())...))>;
    if constexpr (count < 1 || count > 3)
      return meshtensor::detail::refusal<
          "T36 convolution: name one to three windows: convolution(s / \"first\", x, c_in, c_out, mt::window(rows, "
          "rows_2, k_rows, {.stride = 2}), mt::window(cols, cols_2, k_cols)), not",
          X, Args...>{};
    else return of<From, Into>::template finding<lacks_new<X, From, Into>, X>();
  }
  template <scope S, handle X, channels From, channels Into, convolution_argument... Args>
  constexpr auto operator()(S const& s, X const& x, From, Into, Args const&... args) const {
    return of<From, Into>::apply(s, x, std::tuple_cat(windows_in(args)...), args...);
  }

 private:
  template <class From, class Into>
  using of = convolution_of<Backward, decltype(channels_of(std::declval<From>())),
                            decltype(channels_of(std::declval<Into>()))>;
};

}  // namespace detail

/// Moves a learned kernel over one to three windows of `x` and maps the channels `from` to `into`:
/// `convolution(s / "first", x, c_in, c_out, window(rows, rows, k_rows, {.padding = same_padding}))`. An initializer of
/// the kernel and `mt::nn::no_bias` may follow.
///
/// Channels are one dim or several. A dim that is in both lists is one of groups, so each of its indices has a kernel
/// of its own: `convolution(s / "groups", x, to(group, c_in), to(group, c_out), …)`. For example, each channel is
/// convolved by itself with `convolution(s / "depthwise", x, to(channels), to(channels), …)`. If a tensor has no
/// channels, as a grey image, `from` is `to()`: `convolution(s / "grey", x, to(), c_out, …)`.
///
/// parameters  kernel [windows, groups, inputs, outputs], `he_normal` of its windows and inputs; bias [into], zeros
/// dims        those of `x`: outputs of windows in the places of their inputs, `into` in the place of `from`, or last
///             if `from` is empty
/// layout      as for `conv`
/// errors      T01 `x` lacks a dim; T03 `x` has a dim of `into` already; S03 as for `conv`
/// source      He et al., arXiv:1502.01852
inline constexpr library_layer convolution = detail::convolution_body<false>{};

/// The transposed convolution as a layer, with the arguments of `convolution`. It maps the outputs of windows to their
/// inputs.
inline constexpr library_layer convolution_transposed = detail::convolution_body<true>{};

}  // namespace meshtensor::nn

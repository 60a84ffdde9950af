// SPDX-License-Identifier: Apache-2.0
// Windows as users write them: the dims over which a kernel moves, with stride, dilation and padding.
#pragma once

#include <concepts>

#include "meshtensor/op/detail/handles.hpp"
#include "meshtensor/op/detail/record.hpp"

namespace meshtensor {

/// The numbers of elements by which a dim is padded before and after it when a window moves along it. They are given as
/// `mt::padding{1, 1}`, or by one of the rules below. A negative number leaves elements out.
struct padding {
  enum kind_t : std::uint8_t { given, same, centred, circular } kind = given;
  std::int64_t low = 0, high = 0;

  constexpr padding() = default;
  constexpr padding(std::int64_t before, std::int64_t behind) : low(before), high(behind) {}
  constexpr explicit padding(kind_t k) : kind(k) {}
  template <std::integral N, class Reason = typename detail::refusal_of<
                                 "T36 a window is padded before and behind its dim: .padding = {1, 1}, or "
                                 "mt::centred_padding, not",
                                 N>::type>
  MESHTENSOR_REFUSES constexpr padding(N) {  // NOLINT: converts, so that it says what to write
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
  }
};

/// No padding. The window stays within the dim. Therefore a window of several elements has fewer positions than the
/// dim.
inline constexpr padding no_padding{};
/// As many elements as give ⌈extent / stride⌉ positions. If their number is odd, the last one is after the dim. This is
/// TensorFlow's SAME and, for stride 1, PyTorch's "same".
inline constexpr padding same_padding{padding::same};
/// Half of the kernel's span, dilation · (size - 1) / 2 rounded down, on both sides. For a kernel of 3 it is PyTorch's
/// `padding=1`. With an odd kernel there are ⌈extent / stride⌉ positions.
inline constexpr padding centred_padding{padding::centred};
/// As many elements as centred_padding, but those at the other end of the dim: PyTorch's padding_mode="circular". It is
/// for convolutions whose kernels have a fixed extent, but not for transposed ones.
inline constexpr padding circular_padding{padding::circular};

/// How a window moves: in steps of `stride`, with its elements `dilation` apart, over a dim padded by `padding`.
struct window_options {
  std::int64_t stride = 1, dilation = 1;
  meshtensor::padding padding = no_padding;
};

/// A window of `Kernel`'s extent that moves along `Input` and has a position for each element of `Output`.
template <dim_type Input, dim_type Output, dim_type Kernel>
struct window_along {
  window_options how;
};

/// A window that moves along a dim: `window(rows, rows_2, kernel, {.stride = 2, .padding = mt::same_padding})`. Element
/// i of `input`, o of `output` and w of `kernel` meet where i = stride · o + dilation · w - low, with `low` the padding
/// before the dim. `input` and `output` may be one dim, if the window has as many positions as the dim has elements.
///
/// errors  S03 the extent of `output` differs from the number of positions; T47 the stride or the dilation is less than
///         1
template <dim_type Input, dim_type Output, dim_type Kernel>
constexpr window_along<Input, Output, Kernel> window(Input, Output, Kernel, window_options how = {}) {
  return {how};
}

/// A window of `size` elements for pools, which have no kernel.
template <dim_type Input, dim_type Output>
struct window_of_size {
  std::int64_t size;
  window_options how;
};

/// A window for pools: `window(rows, rows_2, 3, {.stride = 2, .padding = {1, 1}})`. Otherwise like a window with a
/// kernel.
///
/// errors  S03, T47 as for a window with a kernel; T47 its size is less than 1
template <dim_type Input, dim_type Output>
constexpr window_of_size<Input, Output> window(Input, Output, std::int64_t size, window_options how = {}) {
  return {size, how};
}

namespace detail {

template <class I, class O, class K, class How, class More>
inline constexpr bool calls_window =
    dim_type<I> && dim_type<O> && (dim_type<K> || std::is_convertible_v<K, std::int64_t>) &&
    is_given_as<How, window_options> && std::same_as<More, none_given>;
inline constexpr literal needs_window =
    "T36 a window moves along one dim and gives another one, then come its size or the dim of a kernel, and options: "
    "mt::window(rows, rows_2, 3, {.stride = 2, .padding = {1, 1}}), not";

}  // namespace detail

/// Rejects a window without the dim that it gives, or without its size, or with numbers in the place of options.
template <dim_type I, detail::argument O = detail::none_given, detail::argument K = detail::none_given,
          detail::argument How = detail::none_given, detail::argument More = detail::none_given>
requires(!detail::calls_window<I, O, K, How, More>)
constexpr auto window(I, O const& = {}, K const& = {}, How const& = {}, More const& = {},
                      detail::refused_call<detail::needs_window, I, O, K, How, More> const& = {}) {
  if constexpr (dim_type<O> && dim_type<K>) return window_along<I, O, K>{};
  else return window_of_size<I, I>{1, {}};
}
template <dim_type I, detail::argument O>
requires(!dim_type<O>)
constexpr auto window(I, O const&, window_options const&,
                      detail::refused_call<detail::needs_window, I, O> const& = {}) {
  return window_of_size<I, I>{1, {}};
}

namespace detail {

template <dim_type I, dim_type O>
constexpr window_row row_of(builder& b, window_options const& how, dim_id kernel, number const& size) {
  constexpr std::int64_t most = 0xffff;
  b.expect(how.stride >= 1 && how.stride < most && how.dilation >= 1 && how.dilation < most,
           "T47 a window's stride and dilation are at least 1, and less than 65,535");
  auto const stride = static_cast<double>(how.stride), dilation = static_cast<double>(how.dilation);
  dim_id const input = b.dim(I::dim_name, I::dim_rule), output = b.dim(O::dim_name, O::dim_rule);
  number low = static_cast<double>(how.padding.low), high = static_cast<double>(how.padding.high);
  number const span = dilation * (size - 1);
  auto const half = [](number const& n) { return apply(function::floor, n / 2); };
  if (how.padding.kind == padding::centred || how.padding.kind == padding::circular) low = high = half(span);
  if (how.padding.kind == padding::same) {
    number const places = apply(function::floor, (extent(I{}) + (stride - 1)) / stride);
    number const all =
        number::of_row(&b, b.add_number(maximum(stride * (places - 1) + span + 1 - extent(I{}), number(0))));
    low = half(all), high = all - half(all);
  }
  return {input,
          output,
          kernel,
          static_cast<id>(how.stride),
          static_cast<id>(how.dilation),
          b.add_number(low),
          b.add_number(high)};
}
template <dim_type I, dim_type O, dim_type K>
constexpr window_row row_of(builder& b, window_along<I, O, K> const& w) {
  dim_id const kernel = b.dim(K::dim_name, K::dim_rule);
  return row_of<I, O>(b, w.how, kernel, extent(K{}));
}
/// A window without a kernel has a dim of the library's own, one for each size.
template <dim_type I, dim_type O>
constexpr window_row row_of(builder& b, window_of_size<I, O> const& w) {
  constexpr std::int64_t most = 0xffff;
  bool const fits = b.expect(w.size >= 1 && w.size < most, "T47 a window has at least 1 element, and less than 65,535");
  std::int64_t const size = fits ? w.size : 1;
  diagnostic label{};
  label << "window of " << size;
  return row_of<I, O>(b, w.how, b.dim(name::of(label.view()), extent_rule(size)), static_cast<double>(size));
}

}  // namespace detail
}  // namespace meshtensor

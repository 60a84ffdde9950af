// SPDX-License-Identifier: Apache-2.0
// Arguments of a step, by name: whole arrays, one rank's parts of arrays, memory for outputs, and numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

#include "meshtensor/array/array_view.hpp"
#include "meshtensor/tensor/tensor.hpp"
#include "meshtensor/tensor/wrong.hpp"

namespace meshtensor {

/// A whole array under a name, the same on every rank. `Dims` is a list of types, or any_dims if the dims are known
/// only at run time.
template <name Label, class T, class Dims>
struct fed_array {
  array_view<T const> from;
};
/// All elements in the input's order, without named dims.
template <name Label, class T>
struct fed_elements {
  T const* data;
  std::size_t size;
};

/// `feed<"image">(images)` feeds a whole array, the same on every rank. The dims of an array may have another order
/// than those of the input. A plain range has all elements in the order of the input, and the last dim varies fastest.
template <name Label, class T>
auto feed(any_array<T> const& a) {
  return fed_array<Label, T, any_dims>{array_view<T const>(a)};
}
template <name Label, class T, auto... Dims>
auto feed(array<T, Dims...> const& a) {
  return fed_array<Label, T, typename array<T, Dims...>::dim_list>{array_view<T const>(a)};
}
/// `feed<"x">(mt::in_memory(p, batch(64), width))` feeds a whole array from strided memory.
template <name Label, class T>
auto feed(array_view<T> const& v) {
  return fed_array<Label, std::remove_const_t<T>, any_dims>{v};
}
template <name Label, std::ranges::contiguous_range R>
requires(!any_array_like<R>)
constexpr auto feed(R const& r) {
  return fed_elements<Label, std::ranges::range_value_t<R>>{std::ranges::data(r), std::ranges::size(r)};
}
/// Feeds an input without dims.
template <name Label, class T>
requires std::is_arithmetic_v<T>
constexpr auto feed(T const& one) {
  return fed_elements<Label, T>{&one, 1};
}

/// Stands for an argument of a step that has no name, so that the compiler reports no further errors about it.
struct nothing_fed {};
/// Rejects a name as an argument. The sentence depends on T, so that it is made only for a call.
template <std::size_t N, class T>
constexpr nothing_fed feed(
    char const (&)[N], T const&,
    detail::refused_call<"T19 feed takes the name of the input in angle brackets: mt::feed<\"x\">(x)",
                         std::conditional_t<N == 0, T, detail::none_given>> const& = {}) {
  return {};
}

/// One rank's part of an array, read in place. `size` is -1 if it is unknown.
template <name Label, class T>
struct fed_part {
  T const* data;
  std::int64_t size;
};
/// `feed_local<"field">(part)` feeds this rank's part of an array, in the order of the input's dims. The step reads it
/// in place, so it must stay valid until the step is over. No later step reads it, so each step must feed the input
/// again.
template <name Label, class T>
constexpr fed_part<Label, T> feed_local(T const* part) {
  return {part, -1};
}
template <name Label, std::ranges::contiguous_range R>
requires(!any_array_like<R>)
constexpr auto feed_local(R const& r) {
  return fed_part<Label, std::ranges::range_value_t<R>>{std::ranges::data(r),
                                                        static_cast<std::int64_t>(std::ranges::size(r))};
}

/// `feed_local<"field">(mt::in_memory(p, y(64), x(48)))` and `feed_local<"field">(array)` do the same with named dims.
/// If the memory is not dense in the order of the input's dims, or is that of a variable that the step updates, it is
/// copied when the step begins.
template <name Label, class T>
struct fed_part_view {
  array_view<T const> from;
};
template <name Label, class T>
fed_part_view<Label, std::remove_const_t<T>> feed_local(array_view<T> const& v) {
  return {v};
}
template <name Label, class T>
fed_part_view<Label, T> feed_local(any_array<T> const& a) {
  return {array_view<T const>(a)};
}

/// Memory of the caller for this process's part of an output. `size` is -1 if it is unknown.
template <name Label, class T>
struct fetched_part {
  T* data;
  std::int64_t size;
};
template <name Label, class T>
struct fetched_part_view {
  array_view<T> to;
};
/// Whether a step may write to elements of this type.
template <class T>
concept writable_element = !std::is_const_v<T>;

/// `fetch_local<"field">(part)` lets the step write this process's part of an output into memory of the caller, in the
/// order of the output's dims. The part is the block of its rank, or the whole if the process holds all ranks. The
/// memory must stay valid until the next step, because `get<"field">()` reads it. If the step fails, the values of the
/// elements are undefined.
template <name Label, writable_element T>
constexpr fetched_part<Label, T> fetch_local(T* part) {
  return {part, -1};
}
template <name Label, std::ranges::contiguous_range R>
requires std::ranges::borrowed_range<R> && (!any_array_like<std::remove_cvref_t<R>>) &&
         writable_element<std::remove_reference_t<std::ranges::range_reference_t<R>>>
constexpr auto fetch_local(R&& r) {
  return fetched_part<Label, std::ranges::range_value_t<R>>{std::ranges::data(r),
                                                            static_cast<std::int64_t>(std::ranges::size(r))};
}
/// `fetch_local<"field">(mt::in_memory(p, mt::apart(y(64), 50), x(48)))` does the same with named dims, in any order
/// and with any strides, and `fetch_local<"field">(array)` does it with the dims of the array. The step
/// writes each element once, to its address. If the same memory also feeds an input of the step, or is that of a
/// variable that it reads, the output is copied there after the step.
template <name Label, writable_element T>
constexpr fetched_part_view<Label, T> fetch_local(array_view<T> const& v) {
  return {v};
}
template <name Label, class T>
fetched_part_view<Label, T> fetch_local(any_array<T>& a) {
  return {array_view<T>(a)};
}

/// A number of the program, set from this step on, unless the step is refused.
template <name Label>
struct set_number {
  number_value value;
};
/// For example `set<"learning_rate">(3e-4)`.
template <name Label>
constexpr set_number<Label> set(number_value const& value) {
  return {value};
}

}  // namespace meshtensor

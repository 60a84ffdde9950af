// SPDX-License-Identifier: Apache-2.0
// The types of a loop's carries, slices and stacks.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "meshtensor/op/detail/handles.hpp"

namespace meshtensor::detail {

/// The handle types of a slice, which lacks the loop's dim, and of a stack, whose first dim is the loop's dim.
template <class D>
struct slice_rule_of {
  constexpr shape operator()(shape const& a, shape const& d) const { return without(a, d); }
};
template <class D>
struct stack_rule_of {
  constexpr shape operator()(shape const& a, shape const& d) const { return led_by(d.at[0], a); }
};
template <class H, class D>
using sliced_t = handle_t<H::type, result_dims_t<slice_rule_of<D>{}, typename H::dim_list, dims<D>>>;
template <class H, class D>
using stacked_t = handle_t<H::type, result_dims_t<stack_rule_of<D>{}, typename H::dim_list, dims<D>>>;

template <class T>
inline constexpr bool is_handles = handle<T>;
template <class... T>
inline constexpr bool is_handles<std::tuple<T...>> = (handle<T> && ...);
/// Whether a loop's body returns the right number of carries and, if wanted, values to stack.
template <class Given, std::size_t Carries, bool Stacks>
inline constexpr bool gives = !Stacks && is_handles<Given> && Carries == 1;
template <class... T, std::size_t Carries>
inline constexpr bool gives<std::tuple<T...>, Carries, false> = (handle<T> && ...) && sizeof...(T) == Carries;
template <class First, class Second, std::size_t Carries>
inline constexpr bool gives<std::tuple<First, Second>, Carries, true> =
    gives<First, Carries, false> && is_handles<Second>;

template <class T>
using tuple_of = std::remove_cvref_t<decltype(as_tuple(std::declval<T const&>()))>;

/// Notes an error if the next value of a carry has another dtype than the carry.
constexpr void require_dtype_of_carry(builder& b, value_id carry, value_id next) {
  value const &before = b.m.values[carry], &after = b.m.values[next];
  if (before.type == after.type) return;
  diagnostic d{};
  add_type(d << "T02 a loop's carry is ", b.m, before.type, before.dims);
  b.note(add_type(d << ", but its next value is ", b.m, after.type, after.dims) << ": cast it");
}

/// The result of a refused call of a loop, `each` or `map`: its first tensor, or `no_result` if no argument is one.
template <class... A>
constexpr auto start_of_refused(A const&...) {
  return no_result{};
}
template <class First, class... More>
constexpr auto start_of_refused(First const& first, More const&... more) {
  if constexpr (scope<First>) first.graph_builder().give_up();
  if constexpr (handle<First>) return given_up(first);
  else return start_of_refused(more...);
}

}  // namespace meshtensor::detail

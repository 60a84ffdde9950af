// SPDX-License-Identifier: Apache-2.0
// The errors that the types of a call of each, map, across or own show.
#pragma once

#include <tuple>
#include <type_traits>

#include "meshtensor/graph/scope.hpp"
#include "meshtensor/op/control/loop_types.hpp"
#include "meshtensor/op/gradient.hpp"

namespace meshtensor::detail {

template <class T, class D>
inline constexpr bool shows = has_dim_v<typename T::dim_list, D>;
template <dtype T, class D>
inline constexpr bool shows<gradients<T>, D> = false;  // their types do not tell
template <class... T, class D>
inline constexpr bool shows<std::tuple<T...>, D> = (shows<T, D> || ...);

/// Whether this is one result of the body of an each: a tensor, or gradients.
template <class T>
inline constexpr bool is_one_result = handle<T>;
template <dtype T>
inline constexpr bool is_one_result<gradients<T>> = true;
/// Whether the body of an each may return this: one result, or several as a flat tuple.
template <class T>
inline constexpr bool may_leave_each = is_one_result<T>;
template <class... T>
inline constexpr bool may_leave_each<std::tuple<T...>> = (is_one_result<T> && ...);

/// The first error that the types of an each over `D` show, or `no_error`. `X` are its operands.
template <scope S, dim_type D, class Body, class... X>
consteval auto each_body_finding(std::tuple<X...> const*) {
  if constexpr (!takes<Body, S, sliced_t<X, D>...>)
    return refusal<
        "T11 the body of each and map takes the scope, then for each operand the slice that one index sees, as "
        "arguments of their own",
        sliced_t<X, D>...>{};
  else {
    using Given = std::remove_cvref_t<std::invoke_result_t<Body const&, S const&, sliced_t<X, D> const&...>>;
    if constexpr (std::is_void_v<Given>) return no_error{};
    else if constexpr (!may_leave_each<Given>)
      return refusal<"T11 the body of each and map returns tensors, several as one flat tuple, or nothing", Given>{};
    else if constexpr (shows<Given, D>)
      return refusal<
          "T44 the body of each and map returns a tensor that has their dim already: reduce over the dim, or rename it",
          Given, D>{};
    else return no_error{};
  }
}
template <scope S, dim_type D, class Xs, class Body>
consteval auto each_finding() {
  if constexpr (is_handles<Xs>) return each_body_finding<S, D, Body>(static_cast<tuple_of<Xs> const*>(nullptr));
  else return no_error{};  // of the overload without operands, whose constraint clang looks at too late
}
/// Whether the arguments of each or map, but for a body at the end, are not a scope, a dim and operands, in this order.
template <class S, class D, class A, class B>
inline constexpr bool is_wrong_each = !scope<S> || !dim_type<D> || (!is_handles<A> && is_handles<B>);
template <class S, class D>
using refused_each = refused_call_with<code_if<scope<S>, "T25", "T17">,
                                       "each and map take a scope, the dim of their indices, then tensors and their "
                                       "body: map(s / \"examples\", batch, std::tuple(x, y), body)",
                                       S, D>;
/// The line of a call of each or map. It refuses the call if the types show an error.
template <class... A>
using each_line = checked_line<decltype(each_finding<A...>())>;

template <handle H, dim_type D>
consteval auto across_finding() {
  if constexpr (shows<H, D>) return refusal<"G43 across: the tensor has the dim already: rename it", H, D>{};
  else return no_error{};
}
template <class H, class D>
using across_line = checked_line<decltype(across_finding<H, D>())>;

template <handle H, dim_type D>
consteval auto own_finding() {
  if constexpr (has_dim<H, D>) return no_error{};
  else return refusal<"T01 own: the tensor lacks the dim", H, D>{};
}
template <class H, class D>
using own_line = checked_line<decltype(own_finding<H, D>())>;

}  // namespace meshtensor::detail

// SPDX-License-Identifier: Apache-2.0
// The errors that the types of a call of while_loop show, and the results of a refused call.
#pragma once

#include <tuple>
#include <type_traits>

#include "meshtensor/graph/scope.hpp"
#include "meshtensor/op/control/condition.hpp"

namespace meshtensor::detail {

/// The first error that the types of a loop of these carries show, or `no_error`.
template <class S, class Condition, class Body, class... H>
consteval auto while_finding() {
  if constexpr (!(handle<H> && ...))
    return refusal<
        with_code<code_if<(number_like<H> || ...), "T29", "T37">,
                  "the carries of while_loop are tensors, each an argument of its own, as full(s, 0, mt::i32) is for "
                  "the number 0">,
        H...>{};
  else if constexpr (!takes<Condition, S, H...> || !takes<Body, S, H...>)
    return refusal<
        "T11 the condition and the body of while_loop take the scope, then each carry as an argument of its "
        "own",
        H...>{};
  else {
    using Go = std::remove_cvref_t<std::invoke_result_t<Condition const&, S const&, H const&...>>;
    using Found = decltype(condition_finding<Go>());
    if constexpr (!nothing_found<Found>) return Found{};
    else if constexpr (std::is_same_v<Go, no_bool>) return no_error{};
    else {
      using Next = std::remove_cvref_t<std::invoke_result_t<Body const&, S const&, H const&...>>;
      if constexpr (gives<Next, sizeof...(H), false>) return no_error{};
      else return refusal<"T11 the body of while_loop returns as many carries as it takes, several as a tuple", Next>{};
    }
  }
}
/// Whether such a loop is recorded, because neither it nor a comparison in its condition was refused.
template <class S, class Condition, class Body, class... H>
consteval bool is_recorded() {
  if constexpr (nothing_found<decltype(while_finding<S, Condition, Body, H...>())>)
    return handle<std::remove_cvref_t<std::invoke_result_t<Condition const&, S const&, H const&...>>>;
  else return false;
}
/// Handles in the place of one carry of a refused loop, which may be a handle, a tuple of handles, or neither.
template <class H>
constexpr auto carries_in_place_of(builder& b, H const& given) {
  if constexpr (handle<H>) return std::tuple{given};
  else if constexpr (is_several<H> && is_handles<H>) return given;
  else return std::tuple{tensor<dtype::i32>(&b, value_id{})};
}
template <class A>
constexpr auto handles_in(A const& given) {
  if constexpr (is_handles<A>) return as_tuple(given);
  else return std::tuple{};
}
template <class... H>
constexpr auto refused_while(builder& b, H const&... start) {
  b.give_up();
  return std::tuple_cat(std::tuple{tensor<dtype::i64>(&b, value_id{})}, carries_in_place_of(b, start)...);
}

}  // namespace meshtensor::detail

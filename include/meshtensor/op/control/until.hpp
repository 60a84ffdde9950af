// SPDX-License-Identifier: Apache-2.0
// The end of a scan that may stop early: `mt::until`, and the errors that its types show.
#pragma once

#include <tuple>
#include <type_traits>

#include "meshtensor/op/control/call_errors.hpp"
#include "meshtensor/op/control/condition.hpp"

namespace meshtensor {

namespace detail {
struct no_rest {};
}  // namespace detail

/// The last argument of a `scan` that stops as soon as a condition holds: `until{[](auto, auto word) { return word ==
/// end; }, 0}`. The condition takes the scope, then each carry, and returns a bool without dims. It is checked before
/// each iteration. `rest` stands behind the exit, in the slices of the outputs whose iterations do not run: a number or
/// a tensor, or a tuple with one of them for each output.
template <class Condition, class Rest = detail::no_rest>
struct until {
  using rest_type = Rest;
  Condition condition;
  Rest rest = {};
};
template <class Condition>
until(Condition) -> until<Condition>;
template <class Condition, class Rest>
until(Condition, Rest) -> until<Condition, Rest>;

namespace detail {

template <class>
inline constexpr bool is_until = false;
template <class Condition, class Rest>
inline constexpr bool is_until<until<Condition, Rest>> = true;

/// What stands behind the exit in output `I`: one of a tuple, or the same in all outputs.
template <std::size_t I, class Rest>
constexpr auto const& rest_at(Rest const& rest) {
  if constexpr (is_tuple<Rest>) return std::get<I>(rest);
  else return rest;
}
/// The first error of what stands behind the exit in the outputs from `I` on, whose slices are `Y`, or `no_error`.
template <std::size_t I, class Rest, class... Y>
consteval auto rest_finding(std::tuple<Y...> const* outputs) {
  if constexpr (I == sizeof...(Y)) return no_error{};
  else {
    using One = std::remove_cvref_t<decltype(rest_at<I>(std::declval<Rest const&>()))>;
    using Slice = std::tuple_element_t<I, std::tuple<Y...>>;
    if constexpr (!number_like<One> && !handle<One>)
      return refusal<"T37 the rest of mt::until is a number or a tensor, or a tuple with one for each output", One>{};
    else if constexpr (!has_type<One, Slice::type>())
      return refusal<"T02 the rest of mt::until has another dtype than the output: cast it", One, Slice>{};
    else return rest_finding<I + 1, Rest>(outputs);
  }
}
template <class Rest, class... Y>
consteval auto all_rests_finding(std::tuple<Y...> const* outputs) {
  if constexpr (std::is_same_v<Rest, no_rest>)
    return refusal<"T37 mt::until lacks its rest, which stands in the outputs behind the exit: mt::until{condition, 0}",
                   Y...>{};
  else if constexpr (is_tuple<Rest>) {
    if constexpr (std::tuple_size_v<Rest> != sizeof...(Y))
      return refusal<"T11 the rest of mt::until is a tuple, but not with one number or tensor for each output", Y...>{};
    else return rest_finding<0, Rest>(outputs);
  } else return rest_finding<0, Rest>(outputs);
}

template <scope S, dim_type D, class Body, class Ending, class... C, class... X>
consteval auto ending_finding(std::tuple<C...> const*, std::tuple<X...> const*) {
  using Condition = decltype(Ending::condition);
  if constexpr (!takes<Condition, S, C...>)
    return refusal<"T11 the condition of mt::until takes the scope, then each carry as an argument of its own", C...>{};
  else {
    using Found = decltype(condition_finding<
                           std::remove_cvref_t<std::invoke_result_t<Condition const&, S const&, C const&...>>>());
    using Given =
        std::remove_cvref_t<std::invoke_result_t<Body const&, S const&, C const&..., sliced_t<X, D> const&...>>;
    using Outputs = tuple_of<std::tuple_element_t<1, Given>>;
    if constexpr (!nothing_found<Found>) return Found{};
    else return all_rests_finding<typename Ending::rest_type>(static_cast<Outputs const*>(nullptr));
  }
}
/// The first error that the types of a scan with such an end show, or `no_error`.
template <scope S, dim_type D, class Carry, class Xs, class Body, class Ending>
consteval auto until_finding() {
  using Found = decltype(loop_finding<S, D, Carry, Xs, Body>());
  if constexpr (!is_until<Ending>)
    return refusal<"T37 the last argument of scan is mt::until{condition, rest}, or there is none", Ending>{};
  else if constexpr (!nothing_found<Found>) return Found{};
  else
    return ending_finding<S, D, Body, Ending>(static_cast<tuple_of<Carry> const*>(nullptr),
                                              static_cast<tuple_of<Xs> const*>(nullptr));
}
/// The line of such a call. It refuses the call if the types show an error.
template <class... A>
using until_line = checked_line<decltype(until_finding<A...>())>;

}  // namespace detail
}  // namespace meshtensor

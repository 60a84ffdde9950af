// SPDX-License-Identifier: Apache-2.0
// Loops that end when a condition no longer holds.
#pragma once

#include <concepts>
#include <tuple>

#include "meshtensor/op/control.hpp"
#include "meshtensor/op/while_loop/at_most.hpp"
#include "meshtensor/op/while_loop/call_errors.hpp"
#include "meshtensor/op/while_loop/record_while.hpp"

namespace meshtensor {

/// Runs `body` while `condition` holds, at most so many times: `auto [count, last] = while_loop(s / "grow",
/// at_most(40), condition, body, x)`. Both functions take the scope, then each carry. The condition is a bool without
/// dims. Returns the number of iterations, as i64, and the last carries. The condition is called more than once while
/// the program is traced, so it watches no tensor.
///
/// layout  as of `repeat`. All ranks run as many iterations, because each rank has the whole condition
/// grad    a backward loop over as many iterations. Its values are saved in memory for all iterations that `at_most`
///         allows
/// errors  T02 and T03: a carry changes its dtype or dims; T11 the body returns another number of carries; S18 the
///         limit is less than 1, or not known when the executable is made
template <scope S, class Condition, class Body, class... H>
constexpr auto while_loop(S const& s,
                          at<at_most, decltype(detail::while_finding<S, Condition, Body, H...>())> const& most,
                          Condition const& condition, Body const& body, H const&... start) {
  builder& b = s.graph_builder();
  if constexpr (detail::is_recorded<S, Condition, Body, H...>()) {
    return detail::record_while_loop(s, b, most.operand, condition, body, start...);
  } else {
    return detail::refused_while(b, start...);
  }
}

/// Rejects a loop without a limit.
template <scope S, detail::argument Condition, detail::argument Body = detail::none_given, class A = detail::none_given,
          class B = detail::none_given, class C = detail::none_given, class D = detail::none_given>
requires(!std::same_as<Condition, at_most>)
constexpr auto while_loop(S const& s, Condition const&, Body const& = {}, A const& a = {}, B const& b = {},
                          C const& c = {}, D const& d = {},
                          detail::refused_call<"T37 while_loop takes the scope, mt::at_most(a limit), the condition, "
                                               "the body and then each carry, not",
                                               Condition, Body, A, B, C, D> const& = {}) {
  auto const all =
      std::tuple_cat(detail::handles_in(a), detail::handles_in(b), detail::handles_in(c), detail::handles_in(d));
  return std::apply([&](auto const&... start) { return detail::refused_while(s.graph_builder(), start...); }, all);
}

}  // namespace meshtensor

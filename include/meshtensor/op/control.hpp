// SPDX-License-Identifier: Apache-2.0
// Loops: regions of the graph that run once for every index of a dim.
#pragma once

#include <tuple>

#include "meshtensor/graph/scope.hpp"
#include "meshtensor/op/control/call_errors.hpp"
#include "meshtensor/op/control/loop_types.hpp"
#include "meshtensor/op/control/record_loop.hpp"

namespace meshtensor {

/// Runs `body` once for every index of `dim`, each time with its own parameters: x ← body(s, x). Therefore parameters
/// declared inside have the dim `dim`. The graph, the kernels and the compile time do not grow with the number of
/// iterations.
///
/// dims    those of the carry. A tuple of handles is several carries. The body returns the same dims, in any order
/// layout  the carry is laid out as its dims imply. Parameters are sharded like any tensor
/// grad    a reversed loop. The forward loop saves the forward values, or the reversed loop recomputes them
/// errors  T03 the next carry has other dims; G23 a value made inside is used outside
template <scope S, dim_type D, class Carry, class Body>
constexpr auto repeat(S const& s, D dim, Carry const& start, Body const& body,
                      detail::loop_line<S, D, Carry, std::tuple<>, Body> const& where = {}) {
  return detail::record_loop<false>(s, dim, where, start, std::tuple<>{}, body);
}

/// `repeat` over sequences slices tensors that have `dim`, and stacks results: (x, y[l]) ← body(s, x, z[l]). It returns
/// the last x and all y. Several tensors are a tuple: `repeat(s / "layers", layers, x, std::tuple(keys, values),
/// body)`.
template <scope S, dim_type D, class Carry, class Xs, class Body>
requires(handle<Xs> || detail::is_tuple<Xs>)
constexpr auto repeat(S const& s, D dim, Carry const& start, Xs const& sequences, Body const& body,
                      detail::loop_line<S, D, Carry, Xs, Body> const& where = {}) {
  return detail::record_loop<false>(s, dim, where, start, sequences, body);
}

/// Runs the same step along a sequence, with shared parameters: (h, y[l]) ← body(s, h, x[l]). It returns the last h and
/// all y.
template <scope S, dim_type D, class Carry, class Xs, class Body>
requires(detail::is_handles<Carry> && detail::is_handles<Xs>)
constexpr auto scan(S const& s, D dim, Carry const& start, Xs const& sequences, Body const& body,
                    detail::loop_line<S, D, Carry, Xs, Body> const& where = {}) {
  return detail::record_loop<true>(s, dim, where, start, sequences, body);
}
/// `scan` that stops as soon as a condition holds: `auto [last, words] = scan(s / "decode", time, start, sequence,
/// body, mt::until{ended, 0})`. The condition is checked before each iteration, so a start for which it holds runs
/// none. The last carries are those before the exit. The outputs have all slices, and `rest` stands behind the exit.
///
/// layout  as of `scan`. All ranks run as many iterations, because each rank has the whole condition
/// grad    a backward loop over as many iterations. Its values are saved in memory for the whole sequence
/// random  the numbers of an iteration are those of the scan that does not stop
/// errors  T02 and T03: the condition is not one bool; T37 `until` has no rest; T01 and T02: the rest does not fit the
///         outputs
template <scope S, dim_type D, class Carry, class Xs, class Body, class Condition, class Rest>
requires(detail::is_handles<Carry> && detail::is_handles<Xs>)
constexpr auto scan(S const& s, D dim, Carry const& start, Xs const& sequences, Body const& body,
                    until<Condition, Rest> const& end,
                    detail::until_line<S, D, Carry, Xs, Body, until<Condition, Rest>> const& where = {}) {
  return detail::record_loop<true>(s, dim, where, start, sequences, body, detail::at_exit<S, Condition, Rest>{s, end});
}

/// Rejects a call whose first argument is no scope, or whose second argument is no dim.
template <class S, detail::argument D, detail::argument A, detail::argument B = detail::none_given,
          detail::argument C = detail::none_given>
requires(!(scope<S> && dim_type<D>))
constexpr auto repeat(
    S const& s, D const& d, A const& a, B const& b = {}, C const& c = {},
    detail::refused_call_with<detail::code_if<scope<S>, "T25", "T17">,
                              "a loop takes a scope, the dim that counts its iterations, then tensors "
                              "and its body: repeat(s / \"layers\", layers, x, body)",
                              S, D> const& = {}) {
  return detail::start_of_refused(s, d, a, b, c);
}
template <class S, detail::argument D, detail::argument A, detail::argument B = detail::none_given,
          detail::argument C = detail::none_given>
requires(!(scope<S> && dim_type<D>))
constexpr auto scan(S const& s, D const& d, A const& a, B const& b = {}, C const& c = {},
                    detail::refused_call_with<detail::code_if<scope<S>, "T25", "T17">,
                                              "a loop takes a scope, the dim that counts its iterations, then tensors "
                                              "and its body: scan(s / \"time\", time, start, sequence, body)",
                                              S, D> const& = {}) {
  auto const start = detail::start_of_refused(s, d, a, b, c);
  return std::tuple(start, start);
}
/// Rejects an end of a repeat, which has other parameters in each iteration.
template <scope S, dim_type D, class Carry, class A, class B, class C = detail::none_given>
requires(detail::is_until<B> || detail::is_until<C>)
constexpr auto repeat(S const& s, D const& d, Carry const& start, A const& a, B const& b, C const& c = {},
                      detail::refused_call<"T37 repeat takes no mt::until: write mt::scan, which stops at a condition, "
                                           "and whose iterations share their parameters",
                                           Carry> const& = {}) {
  auto const first = detail::start_of_refused(s, d, start, a, b, c);
  return std::tuple(first, first);
}
/// Rejects an end that is no `until`, such as a condition alone.
template <scope S, dim_type D, class Carry, class Xs, class Body, detail::argument End>
requires(detail::is_handles<Carry> && detail::is_handles<Xs> && !detail::is_until<End>)
constexpr auto scan(S const& s, D dim, Carry const& start, Xs const& sequences, Body const& body, End const&,
                    detail::until_line<S, D, Carry, Xs, Body, End> const& where = {}) {
  return detail::record_loop<true>(s, dim, where, start, sequences, body);
}
/// Rejects a call without a sequence, or with a carry or sequence that is no tensor.
template <scope S, dim_type D, detail::argument First, detail::argument A = detail::none_given,
          detail::argument B = detail::none_given, detail::argument C = detail::none_given>
requires(!(detail::is_handles<First> && detail::is_handles<A>))
constexpr auto scan(
    S const& s, D, First const& first, A const& a = {}, B const& b = {}, C const& = {},
    detail::refused_call_with<detail::code_if<(number_like<First> || number_like<A>), "T29", "T37">,
                              "scan takes the first carry, then a sequence, which are tensors: scan(s / "
                              "\"time\", time, start, sequence, body); iota(s, time, mt::i32) is a "
                              "sequence that counts, full(s, 0, mt::f32, mt::to(batch)) a start",
                              First, A, B> const& = {}) {
  auto const start = detail::start_of_refused(s, first, a, b);
  return std::tuple(start, start);
}

}  // namespace meshtensor

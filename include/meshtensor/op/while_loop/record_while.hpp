// SPDX-License-Identifier: Apache-2.0
// Records a while_loop: one loop of at most so many iterations or, if it is recomputed in parts, a loop of loops.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>

#include "meshtensor/graph/scope.hpp"
#include "meshtensor/op/control/condition.hpp"
#include "meshtensor/op/detail/arithmetic.hpp"
#include "meshtensor/op/detail/counted_loop.hpp"
#include "meshtensor/op/detail/handles.hpp"
#include "meshtensor/op/rematerialize.hpp"
#include "meshtensor/op/while_loop/at_most.hpp"

namespace meshtensor::detail {

/// The next carry `given` as a handle like the carry `H`.
template <class H, class G>
constexpr H next_carry(builder& b, H const& carry, G const& given) {
  require_dtype_of_carry(b, carry.id, given.id);
  return H(&b, aligned(b, b.use(given.id), b.m.values[carry.id].dims));
}

/// Records a loop of at most `most` iterations, whose body takes these carries. `first` is 1 if it runs at all, and
/// `more` of the next carries is 1 if it goes on. Returns the number of iterations that were known to run, and the last
/// carries. If the loop would have gone on, this number is one more than `most`.
template <class S, class More, class Body, class... H>
constexpr auto record_while(S const& s, builder& b, number const& most, value_id first, More const& more,
                            Body const& body, H const&... start) {
  auto const here = s.enter();
  site_id const site = b.site;
  dim_id const dim = dim_of_iterations(b, "while_loop", add_number_of_call(b, most));
  b.begin_frame(region_kind::body, no_id, dim, true);
  value_id const known = b.add_carry(first);
  auto const inside = std::tuple{H(&b, b.add_carry(start.id))...};
  auto const given = as_tuple(std::apply([&](auto const&... h) { return body(s, h...); }, inside));
  auto const next = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple{next_carry(b, std::get<I>(inside), std::get<I>(given))...};
  }(std::index_sequence_for<H...>());
  value_id const goes_on = std::apply(more, next);
  id_list<> results{}, carries{};
  results.add(add(b, known, goes_on)), results.add_all(ids_of(next));
  updated_states const states(b);  // after every use, because it turns the arguments of states into carries
  results.add_all(states.next);
  frame const f = b.end_frame(results);
  b.site = site;
  carries.add(first), carries.add_all(ids_of(std::tuple{start...})), carries.add_all(states.starts);
  node_id const n = add_counted_loop(b, dim, carries, f);
  auto const last = std::tuple{H(&b, b.add_result(n, H::type, b.m.values[start.id].dims))...};
  states.add_carries(n);
  states.hand_on(n, 1 + static_cast<int>(sizeof...(H)), carries.count);
  return std::tuple_cat(std::tuple{tensor<dtype::i64>(&b, b.m.result(b.m.nodes[n]))}, last);
}

/// The iterations that ran, of those that were known to run.
constexpr tensor<dtype::i64> trips_of(builder& b, tensor<dtype::i64> const& known, number const& most) {
  return {&b, elementwise(b, function::minimum, known.id, constant(b, most, dtype::i64))};
}

/// The limit of the outer loop, if inner loops of `recomputed_at_once` iterations each run in it.
constexpr number limit_of_loops(builder& b, at_most const& most) {
  bool const is_literal = most.limit.count == 1 && most.limit.items[0].kind == number::item::literal;
  double const limit = is_literal ? most.limit.items[0].value.real : 0;
  int const each = *most.recomputed_at_once;
  double const loops = each < 1 ? 0 : limit / each;
  if (loops >= 1 && loops <= 0x1p53 && loops == static_cast<double>(static_cast<std::int64_t>(loops))) return loops;
  diagnostic d{};
  b.note(d << "G38 a while_loop of at_most(...).recomputing(" << each
           << ") has a limit that is no multiple of that: write both as numbers, as in at_most(1024).recomputing(32)");
  return 1;
}

/// Records a loop of loops. In the gradient, each iteration of the outer loop runs the inner one again. The outer one
/// carries whether the inner one would have gone on, so that the condition is computed as often as in one loop.
template <class S, class More, class Body, class... H>
constexpr auto record_recomputed_while(S const& s, builder& b, at_most const& most, value_id first, More const& more,
                                       Body const& body, H const&... start) {
  number const loops = limit_of_loops(b, most), each = *most.recomputed_at_once;
  using count = tensor<dtype::i64>;
  auto const inner = [&](auto const& inside, count const&, count const& before, auto const&... h) {
    return std::apply(
        [&](count const& known, auto const&... next) {
          count const trips = trips_of(b, known, each);
          return std::tuple{count(&b, subtract(b, known.id, trips.id)), count(&b, add(b, b.use(before.id), trips.id)),
                            next...};
        },
        record_while(inside, b, each, constant(b, 1, dtype::i64), more, body, h...));
  };
  auto const all = record_while(
      s, b, loops, first, [](count const& goes_on, auto const&...) { return goes_on.id; }, rematerialize(inner),
      count(&b, first), count(&b, constant(b, 0, dtype::i64)), start...);
  return std::apply([](auto const&, auto const&, auto const&... last) { return std::tuple{last...}; }, all);
}

/// Records the loop whose condition and body take these carries. The condition is computed before the loop, and again
/// at the end of each iteration.
template <class S, class Condition, class Body, class... H>
constexpr auto record_while_loop(S const& s, builder& b, at_most const& most, Condition const& condition,
                                 Body const& body, H const&... start) {
  auto const here = s.enter();
  recording const r(&b, most.where);
  auto const goes_on = [&](auto const&... h) { return cast(b, condition_of(s, b, condition, h...), dtype::i64); };
  value_id const first = goes_on(start...);
  if (most.recomputed_at_once) return record_recomputed_while(s, b, most, first, goes_on, body, start...);
  return std::apply([&](tensor<dtype::i64> const& known,
                        auto const&... last) { return std::tuple{trips_of(b, known, most.limit), last...}; },
                    record_while(s, b, most.limit, first, goes_on, body, start...));
}

}  // namespace meshtensor::detail

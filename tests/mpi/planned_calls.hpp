// SPDX-License-Identifier: Apache-2.0
// The MPI calls that a plan's collectives make in a step, and the bytes that they bring, by function.
#pragma once

#include <map>
#include <string>

#include "meshtensor/comm/mpi.hpp"
#include "meshtensor/job/rank_context.hpp"
#include "meshtensor/pass/cost.hpp"

namespace traffic {

namespace mt = meshtensor;

struct sent {
  std::map<std::string, int> calls;
  std::map<std::string, std::int64_t> received;
  std::int64_t collectives = 0;  // that these calls carry; joined ones are one
};

/// Adds the calls that the table gives for one collective of member `me` of `p`, as often as it runs; `at` are the
/// positions of a move.
inline void add_planned(sent& all, mt::collective_call const& call, int p, int me, std::int64_t times,
                        mt::positions at = {}) {
  using f = mt::comm::mpi_function;
  std::map<f, char const*> const names{{f::iallgather, "iallgather"}, {f::iallgatherv, "iallgatherv"},
                                       {f::ialltoall, "ialltoall"},   {f::ialltoallv, "ialltoallv"},
                                       {f::ibcast, "ibcast"},         {f::igatherv, "igatherv"}};
  mt::comm::mpi_algorithm const form = mt::comm::mpi_algorithm_of(call, p, mt::reductions::ordered);
  if (form.first != f::none) all.collectives += times;
  if (form.first == f::isend_irecv) {  // one message for each pair that exchanges anything
    auto const between = [&](int from, int to) -> std::int64_t {
      if (call.kind == mt::collective::move)
        return mt::comm::moved_elements(*call.moves, at, from, to) * static_cast<std::int64_t>(mt::bytes_of(call.type));
      if (call.kind == mt::collective::reduce) return to == call.root ? mt::bytes_of(call) : 0;
      return mt::comm::taken(call, p, from, to).bytes;
    };
    for (int j = 0; j < p; ++j) {
      if (j == me) continue;
      if (std::int64_t const n = between(j, me); n != 0)
        all.calls["irecv"] += static_cast<int>(times), all.received["irecv"] += times * n;
      if (between(me, j) != 0) all.calls["isend"] += static_cast<int>(times), all.received["isend"] += 0;
    }
    return;
  }
  if (form.first == f::steps) {
    int const messages = mt::reduction_steps(p).received(me);
    all.calls["irecv"] += messages * static_cast<int>(times), all.calls["isend"] += messages * static_cast<int>(times);
    all.received["irecv"] += times * mt::received_bytes_of(call, p, me), all.received["isend"] += 0;
    return;
  }
  std::int64_t const bytes = mt::received_bytes_of(call, p, me);
  std::int64_t const n = mt::elements_of(call), each = mt::bytes_of(call) / std::max<std::int64_t>(n, 1);
  std::int64_t later = 0;  // by the second call: every part of the result but this rank's
  bool const gets_result = call.kind != mt::collective::reduce || me == call.root;
  if (form.second != f::none && gets_result) later = (n - mt::part_of(n, p, me).count) * each;
  auto const add = [&](f function, std::int64_t received) {
    if (function == f::none) return;
    all.calls[names.at(function)] += static_cast<int>(times);
    all.received[names.at(function)] += times * received;
  };
  add(form.first, bytes - later);
  add(form.second, later);
}

/// The same for a planned one: a slice of a loop's stack has another root in each iteration.
inline void add_planned(sent& all, mt::planned_collective const& c, std::int64_t times, mt::positions at = {}) {
  if (c.slices.empty()) return add_planned(all, c.call, c.with.count, c.with.index, times, at);
  std::int64_t trips = 0;
  for (mt::interval const& s : c.slices) trips += s.count;
  mt::collective_call call = c.call;
  for (call.root = 0; call.root < c.with.count; ++call.root)
    add_planned(all, call, c.with.count, c.with.index,
                times / trips * c.slices[static_cast<std::size_t>(call.root)].count);
}

/// The calls of one step as one rank makes them.
inline sent calls_of(mt::module const& m, mt::plan const& p, mt::rank_context const& mine) {
  sent all;
  auto const times = mt::run_counts_of(m, p.numbers);
  for (int i = 0; i < m.node_count; ++i) {
    mt::node const& n = m.nodes[i];
    if (!mt::is_collective(n.kind) || mt::goes_with_another(p, i)) continue;
    auto const which = static_cast<mt::node_id>(i);
    if (mt::shifts(n)) {
      auto const a = mt::move_attributes::of(n);
      auto const at = mt::known_positions(m, p.numbers, a.first, a.step);
      mt::require(at.has_value(), "the positions of a move are not known");
      add_planned(all, mine.collective_of(which), times.of[n.region], *at);
    } else if (p.joined[i] == 0) {
      add_planned(all, mine.collective_of(which), times.of[n.region]);
    } else {
      add_planned(all, *mine.joined_collective(which), times.of[n.region]);
    }
  }
  return all;
}

}  // namespace traffic

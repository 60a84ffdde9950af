// SPDX-License-Identifier: Apache-2.0
// Counts the collectives of one step, and the bytes that one rank receives from others.
#pragma once

#include "meshtensor/base/all_reduce.hpp"
#include "meshtensor/base/saturating.hpp"
#include "meshtensor/pass/cost/collective_bytes.hpp"
#include "meshtensor/pass/cost/run_counts.hpp"
#include "meshtensor/pass/join_collectives.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// The collectives of one step over more than one rank, and the bytes that one rank receives from others. `messages`
/// counts joined collectives as one.
struct step_traffic {
  std::int64_t all_reduces, reduce_scatters, all_gathers, all_to_alls, moves;
  std::int64_t messages, bytes;

  constexpr std::int64_t collectives() const {
    return saturated_sum(saturated_sum(saturated_sum(all_reduces, reduce_scatters), all_gathers),
                         saturated_sum(all_to_alls, moves));
  }
};

/// The collectives and bytes of one step of a lowered module, under its plan. See `mt::traffic`.
constexpr step_traffic traffic_of(module const& m, plan const& p) {
  step_traffic t{};
  run_counts const runs = run_counts_of(m, p.numbers);
  std::int64_t together[max_nodes] = {};  // of the last collective of a joint message: the elements of all of them
  for (int i = 0; i < m.node_count; ++i)
    if (p.joined[i] != 0) together[p.joined[i] - 1] += p.numbers.local_size(m.operand_value(m.nodes[i], 0));
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    if (!is_collective(n.kind)) continue;
    collective_cost const e = cost_of_collective(m, p.numbers, n);
    if (e.members < 2) continue;
    std::int64_t const times = runs.of[n.region];
    auto const add = [](std::int64_t& all, std::int64_t more) { all = saturated_sum(all, more); };
    switch (n.kind) {
      case primitive::all_reduce: add(t.all_reduces, times); break;
      case primitive::reduce_scatter: add(t.reduce_scatters, times); break;
      case primitive::all_gather: add(t.all_gathers, times); break;
      case primitive::all_to_all: add(t.all_to_alls, times); break;
      default: add(t.moves, times); break;
    }
    if (!goes_with_another(p, i)) add(t.messages, times);
    if (p.joined[i] == 0 || n.kind != primitive::all_reduce) {
      add(t.bytes, bytes_in_step(m, p.numbers, n, times));
      continue;
    }
    if (goes_with_another(p, i)) continue;
    dtype const type = m.operand_value(n, 0).type;
    bool const in_steps = goes_in_steps(together[i] * static_cast<std::int64_t>(bytes_of(type)));
    add(t.bytes,
        saturated_product(times, all_reduce_bytes(together[i], type, static_cast<int>(e.members), 0, in_steps)));
  }
  return t;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

// SPDX-License-Identifier: Apache-2.0
// Counts the floating-point operations of nodes and of one step, and the bytes that nodes touch.
#pragma once

#include "meshtensor/base/saturating.hpp"
#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/bind/binding.hpp"
#include "meshtensor/pass/cost/run_counts.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// Floating-point operations of one rank for one run of a node. An einsum of k tensors does k operations for every
/// point of its dims. Any other arithmetic does one for every element. Copies and lookups count as 0.
constexpr std::int64_t flops_of(module const& m, auto const& numbers, node const& n) {
  return with_rule(n.kind, [&]<class R>() -> std::int64_t {
    if constexpr (requires { R::flops(m, n, numbers); }) return R::flops(m, n, numbers);
    else return 0;
  });
}

/// The same for a kernel or a composite: the operations in its region.
constexpr std::int64_t flops_within(module const& m, auto const& numbers, node const& n) {
  std::int64_t sum = flops_of(m, numbers, n);
  if (n.regions.count == 0 || sum != 0) return sum;
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].region == m.region_of(n, 0)) sum = saturated_sum(sum, flops_within(m, numbers, m.nodes[i]));
  return sum;
}

/// The bytes that a node reads and writes at least.
constexpr std::int64_t bytes_touched(module const& m, binding const& numbers, node const& n) {
  std::int64_t sum = 0;
  for (int k = 0; k < n.operands.count; ++k) sum += numbers.local_bytes(m.operand_value(n, k));
  for (int k = 0; k < n.results.count; ++k) sum += numbers.local_bytes(m.values[m.result(n, k)]);
  return sum;
}

/// The operations of one step on one rank: those of einsums and other products, and those of all other nodes.
struct computed {
  std::int64_t products, others;

  constexpr std::int64_t all() const { return saturated_sum(products, others); }
};

/// The operations of one step. `held` says how much a rank holds: `binding` itself gives the largest parts, and
/// `held_by` the parts of one rank.
constexpr computed work_of(module const& m, binding const& numbers, auto const& held) {
  computed c{};
  run_counts const runs = run_counts_of(m, numbers);
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    std::int64_t& all = declared(m, n).work == work_kind::product ? c.products : c.others;
    all = saturated_sum(all, saturated_product(runs.of[n.region], flops_of(m, held, n)));
  }
  return c;
}
constexpr computed work_of(module const& m, binding const& numbers) { return work_of(m, numbers, numbers); }

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

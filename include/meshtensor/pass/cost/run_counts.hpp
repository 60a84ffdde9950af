// SPDX-License-Identifier: Apache-2.0
// Counts how often the nodes of each region run in one step.
#pragma once

#include "meshtensor/base/saturating.hpp"
#include "meshtensor/pass/bind/binding.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// How often the nodes of each region run in one step. A loop multiplies this number by its trip count, or by its limit
/// if it may end early. These counts, and all costs, saturate at 2^63 - 1. Both branches of a cond count, although only
/// one of them runs.
struct run_counts {
  std::int64_t of[max_regions];
  bool at_most[max_regions];  // whether the region may run less often
};

constexpr run_counts run_counts_of(module const& m, binding const& numbers) {
  run_counts r{};
  for (int g = 0; g < m.region_count; ++g) r.of[g] = m.regions[g].kind == region_kind::entry ? 1 : 0;
  for (int i = m.node_count; i-- > 0;) {  // backwards, because a region's nodes come before its owner
    node const& n = m.nodes[i];
    bool const repeats = n.kind == primitive::repeat;
    for (int k = 0; k < n.regions.count; ++k) {
      if (n.kind == primitive::composite && k == 1) continue;  // unused unless a gradient was taken
      r.of[m.region_of(n, k)] = saturated_product(r.of[n.region], repeats ? numbers.extent[loop::of(n).dim] : 1);
      r.at_most[m.region_of(n, k)] = r.at_most[n.region] || (repeats && loop::of(n).ends_early);
    }
  }
  return r;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

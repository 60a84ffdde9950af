// SPDX-License-Identifier: Apache-2.0
// Finds the time of a step in which a rank only communicated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "meshtensor/graph/module.hpp"
#include "meshtensor/run/timeline.hpp"

namespace meshtensor {

/// Mean seconds of a recorded step in which a rank only communicated, because it started collectives or waited for
/// them.
inline double exposed_communication(module const& graph, timeline const& recorded) {
  std::int64_t sum = 0;
  for (int i = 0; i < graph.node_count; ++i)
    if (is_collective(graph.nodes[i].kind) || graph.nodes[i].kind == primitive::wait)
      sum += recorded.totals()[static_cast<std::size_t>(i)].own;
  return static_cast<double>(sum) * 1e-9 / static_cast<double>(std::max<std::int64_t>(1, recorded.steps()));
}

}  // namespace meshtensor

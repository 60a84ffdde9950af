// SPDX-License-Identifier: Apache-2.0
// Computes the cost of a step for one rank, in bytes exchanged and operations, from the graph and its numbers.
// before: partitioned and bound.  after: counts, bytes and operations. They are constants if the program is static.
// why: a layout is chosen by its communication, so a test or a static_assert can state it.
#pragma once

#include "meshtensor/base/saturating.hpp"
#include "meshtensor/pass/cost/collective_bytes.hpp"
#include "meshtensor/pass/cost/rates.hpp"
#include "meshtensor/pass/cost/run_counts.hpp"
#include "meshtensor/pass/cost/traffic.hpp"
#include "meshtensor/pass/cost/work.hpp"
#include "meshtensor/pass/lower.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// The elements of all trainable variables that a program reads or writes, on all ranks together.
constexpr std::int64_t parameter_count(module const& m, binding const& numbers) {
  bool used[max_variables] = {};
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == primitive::read || m.nodes[i].kind == primitive::write) used[variable_of(m.nodes[i])] = true;
  std::int64_t sum = 0;
  for (int v = 0; v < m.variable_count; ++v)
    if (used[v] && m.variables[v].trainable) sum = saturated_sum(sum, numbers.size(m.variables[v].dims));
  return sum;
}

namespace detail {
template <class... Args>
struct stages_of;
template <class Program, class Mesh, class Layout>
struct stages_of<Program, Mesh, Layout> : lowered<Program, Program, Mesh, Layout> {};
template <class Programs, class Entry, class Mesh, class Layout>
struct stages_of<Programs, Entry, Mesh, Layout> : lowered<Programs, Entry, Mesh, Layout> {};
}  // namespace detail

/// The communication of one step of a static program, as a constant. For example,
/// `static_assert(traffic<train_step, mesh, layout>.all_reduces == 14)` documents a layout. It takes the arguments of
/// `executable`, without the device.
template <class... Args>
inline constexpr step_traffic traffic = [] {
  using stages = detail::stages_of<Args...>;
  static_assert(is_valid<stages::partitioned> && is_valid<stages::bound>);
  return traffic_of(stages::graph, stages::planned);
}();

/// The plan of a program at given extents, as a constant, even if its dims are dynamic:
/// `plan_at<train_step, mesh, layout, batch(16), length(128)>.arena_bytes`. Every axis of the mesh needs a size.
template <class Program, mesh_type Mesh, layout_type Layout, dim_extent... Extents>
inline constexpr plan const& plan_at = []() -> plan const& {
  using program = sized<Program, Extents...>;
  using stages = lowered<program, program, Mesh, Layout>;
  static_assert(is_valid<stages::partitioned> && is_valid<stages::bound>);
  return stages::planned;
}();

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

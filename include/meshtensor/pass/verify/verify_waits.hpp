// SPDX-License-Identifier: Apache-2.0
// Verifies that the result of a collective is used only after its wait, and that every collective has a wait.
// before: overlapped.  after: the same. The first fault found is one sentence.
// why: a value that is read too early is right most of the time, but wrong in some runs.
#pragma once

#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/graph/locate.hpp"
#include "meshtensor/graph/owner.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// The outcome of a check of a graph or plan: nothing, or one sentence of code G41.
struct graph_check {
  diagnostic report;
};

namespace detail {

struct wait_verifier {
  meshtensor::module const& m;
  graph_check found;
  bool on_its_way[max_values];

  constexpr explicit wait_verifier(module const& target) : m(target), found{}, on_its_way{} {
    for (int i = 0; i < m.node_count && found.report.empty(); ++i)
      if (char const* fault = visit(m.nodes[i])) say(fault, m.nodes[i]);
    for (int v = 0; v < m.value_count && found.report.empty(); ++v)
      if (on_its_way[v]) say("a collective starts and has no wait", m.nodes[m.values[v].node]);
  }

 private:
  constexpr void say(char const* fault, node const& n) {
    found.report << "G41 " << fault;
    locate(found.report, m, n);
  }
  constexpr char const* visit(node const& n) {
    bool const is_wait = n.kind == primitive::wait;
    for (int k = 0; k < n.operands.count; ++k)
      if (on_its_way[m.operand(n, k)] && !(is_wait && m.operand(n, k) == m.operand(n, 0)))
        return "the result of a collective is used before the wait for it";
    if (is_wait) {
      if (!on_its_way[m.operand(n, 0)]) return "a wait for a collective that has not started or has ended";
      on_its_way[m.operand(n, 0)] = false;
    }
    if (is_collective(n.kind)) on_its_way[m.result(n)] = true;
    if (is_collective(n.kind) && starts_ahead(n) && loop::of(m.nodes[node_owning(m, n.region)]).ends_early)
      return "a collective starts for an iteration that may not run";
    for (int k = 0; k < n.regions.count; ++k) {
      list const results = m.regions[m.region_of(n, k)].results;
      for (int i = 0; i < results.count; ++i) {
        value_id const v = m.link(results, i);
        if (!on_its_way[v]) continue;
        loop const l = loop::of(n);
        if (n.kind != primitive::repeat || l.ends_early || i < l.carries + l.sums ||
            !ends_behind_loop(m.nodes[m.values[v].node]))
          return "a region gives the result of a collective before the wait for it";
        on_its_way[v] = false, on_its_way[m.result(n, i)] = true;
      }
    }
    return nullptr;
  }
};

}  // namespace detail

/// The first fault in the waits of an overlapped module. errors G41
constexpr graph_check verify_waits(module const& m) {
  return m.report.empty() ? detail::wait_verifier(m).found : graph_check{m.report};
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

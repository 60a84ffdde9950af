// Takes every collective apart into its start and its wait, and moves them away from each other.
// before: fused.  after: a collective starts as soon as its operand is there and is waited for where its result is used
// first. why: what the mesh does in between costs nothing. All processors have the same order, so nothing can deadlock.
#pragma once

#include "meshtensor/pass/rebuild.hpp"

namespace meshtensor {
namespace detail {

struct overlapper {
  module const& from;
  rebuild w;
  id first_use[max_values];  // of the result of a collective: the node that needs it, plus 1
  id follows[max_nodes];     // the first collective to start behind a node, plus 1
  id next[max_nodes];        // the next one to start there, plus 1
  id awaited[max_nodes];     // the first collective to wait for before a node, plus 1
  id next_awaited[max_nodes];

  constexpr overlapper(module const& source, module& target)
      : from(source), w(source, target), first_use{}, follows{}, next{}, awaited{}, next_awaited{} {
    find_uses();
    for (int i = 0; i < from.node_count; ++i) {
      for (id c = awaited[i]; c != 0; c = next_awaited[c - 1]) wait(from.nodes[c - 1]);
      node const& n = from.nodes[i];
      if (!is_collective(n.kind)) w.copy(n);
      else if (!starts_early(n)) w.copy(n);
      for (id c = follows[i]; c != 0; c = next[c - 1]) w.copy(from.nodes[c - 1]);
    }
  }

 private:
  /// It starts behind the node that makes its operand, unless that is a collective too, or no node of its region.
  constexpr bool starts_early(node const& n) const {
    node const& maker = from.nodes[from.operand_value(n, 0).node];
    return !is_collective(maker.kind) && maker.region == n.region;
  }

  constexpr void find_uses() {
    id owner[max_regions] = {};
    for (int i = from.node_count; i-- > 0;) {
      node const& n = from.nodes[i];
      for (int k = 0; k < n.operands.count; ++k) first_use[from.operand(n, k)] = static_cast<id>(i + 1);
      for (int k = 0; k < n.regions.count; ++k) owner[from.region_of(n, k)] = static_cast<id>(i + 1);
    }
    for (int r = 0; r < from.region_count; ++r)
      for (int k = 0; k < from.regions[r].results.count; ++k) {
        id const v = from.link(from.regions[r].results, k);
        if (first_use[v] == 0) first_use[v] = owner[r];
      }
    for (int i = from.node_count; i-- > 0;) {
      node const& n = from.nodes[i];
      if (!is_collective(n.kind)) continue;
      int const maker = from.operand_value(n, 0).node;
      if (starts_early(n)) next[i] = follows[maker], follows[maker] = static_cast<id>(i + 1);
      id const use = first_use[from.result(n)];
      if (use != 0) next_awaited[i] = awaited[use - 1], awaited[use - 1] = static_cast<id>(i + 1);
    }
  }

  constexpr void wait(node const& n) {
    id const started = w[from.result(n)];
    w.enter(n);
    id const operands[] = {started, w[from.operand(n, 0)]};
    value const v = w.m.values[started];
    id const done = w.b.add(primitive::wait, 0, operands, v.type, v.dims);
    w.m.values[done].layout = v.layout;
    w.replace(from.result(n), done);
  }
};

}  // namespace detail

/// The module with collectives as pairs of start and wait.
constexpr module overlap(module const& m) {
  module result{};
  if (!m.report.empty()) result.report = m.report;
  else detail::overlapper(m, result);
  return result;
}

}  // namespace meshtensor

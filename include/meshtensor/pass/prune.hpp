// SPDX-License-Identifier: Apache-2.0
// Removes dead code: nodes, arguments, carries and outputs of loops.
// before: any verified module.  after: every node has an effect, is an input, or leads to an effect.
// why: differentiation and folding leave dead nodes behind. A removed node needs no layout, no kernel and no memory.
#pragma once

#include "meshtensor/pass/rebuild.hpp"

namespace meshtensor {
namespace detail {

/// The values of a module that lead to an effect, found backwards from the effects.
struct need {
  meshtensor::module const& m;
  id owner[max_regions];   // of a region: the node that owns it, plus 1
  bool value[max_values];  // used by a node that is kept
  bool node[max_nodes];    // whether the node is kept
  value_id waiting[max_values];
  int count;
  bool keeps_gradients;  // whether gradients are still to be taken, so that composites keep theirs

  constexpr explicit need(module const& source)
      : m(source), owner{}, value{}, node{}, waiting{}, count(0), keeps_gradients(false) {
    for (int i = 0; i < m.node_count; ++i) {
      if (m.nodes[i].regions.count != 0) own(i);
      if (m.nodes[i].kind == primitive::gradient) keeps_gradients = true;
    }
    for (int i = 0; i < m.node_count; ++i)
      if (m.nodes[i].effect || m.nodes[i].kind == primitive::input) keep(i);  // a step is fed every declared input
    while (count != 0) follow(waiting[--count]);
  }

 private:
  constexpr void own(int i) {
    for (int k = 0; k < m.nodes[i].regions.count; ++k) owner[m.region_of(m.nodes[i], k)] = static_cast<id>(i + 1);
  }

  constexpr void want(value_id v) {
    if (value[v]) return;
    value[v] = true, waiting[count++] = v;
  }
  constexpr void want_all(list l) {
    for (int i = 0; i < l.count; ++i) want(m.link(l, i));
  }

  // Keeps a node, and the values that it needs no matter which of its results are used.
  constexpr void keep(int i) {
    if (node[i]) return;
    node[i] = true;
    auto const& n = m.nodes[i];
    if (owner[n.region] != 0) keep(owner[n.region] - 1);
    switch (n.kind) {
      case primitive::repeat:
        if (loop::of(n).ends_early) follow_loop(n, 0);  // the number of its iterations is its first carry
        return;
      default: break;
    }
    want_all(n.operands);
    for (int k = 0; k < n.regions.count; ++k) {  // a composite keeps its signature, because a device may recognize it
      if (k > 0 && !keeps_gradients) break;
      want_all(m.regions[m.region_of(n, k)].arguments);
      want_all(m.regions[m.region_of(n, k)].results);
    }
  }

  constexpr void follow(value_id v) {
    int const i = m.values[v].node;
    keep(i);
    auto const& n = m.nodes[i];
    if (n.kind == primitive::argument) follow_argument(n);
    else if (n.kind == primitive::repeat) follow_loop(n, m.values[v].index);
  }
  constexpr void follow_loop(meshtensor::node const& n, int result) {
    auto const& body = m.regions[m.region_of(n, 0)];
    want(m.link(body.results, result));
    if (result < loop::of(n).carries) want(m.link(body.arguments, result));
  }
  constexpr void follow_argument(meshtensor::node const& n) {
    if (owner[n.region] == 0) return;
    auto const& o = m.nodes[owner[n.region] - 1];
    int const place = place_of(n);
    if (o.kind == primitive::composite || o.kind == primitive::kernel) return;
    want(m.operand(o, place));
    if (o.kind == primitive::repeat && place < loop::of(o).carries) want(m.link(m.regions[n.region].results, place));
  }
};

}  // namespace detail

/// The module without dead code. Inputs stay, and composites keep all operands and results.
constexpr module prune(module const& m) {
  if (!m.report.empty()) return m;
  meshtensor::module result{};
  rebuild w(m, result);
  detail::need const needed(m);
  w.wanted = needed.value;
  for (int i = 0; i < m.node_count && result.report.empty(); ++i)
    if (needed.node[i]) w.copy(m.nodes[i]);
  return result;
}

}  // namespace meshtensor

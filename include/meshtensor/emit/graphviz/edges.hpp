// SPDX-License-Identifier: Apache-2.0
// Draws the edges of a graph: between nodes, or between the boxes of scopes.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/emit/graphviz/regions.hpp"
#include "meshtensor/graph/module.hpp"
#include "meshtensor/pass/bind/binding.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// Draws the edges of a graph whose vertices are nodes, or boxes of nodes.
class graph_edges : protected graph_regions {
 protected:
  graph_edges(module const& m, binding const* numbers) : graph_regions(m, numbers), box_(at(m.node_count), -1) {}

  static std::string vertex(int node) { return "n" + std::to_string(node); }
  static std::string box(int number) { return "s" + std::to_string(number); }

  // Values enter a region at its arguments and leave it through its owner.
  void edges(int i) {
    node const& n = m_.nodes[i];
    if (n.regions.count == 0) {
      for (int k = 0; k < n.operands.count; ++k) edge(m_.operand(n, k), i, false);
      return;
    }
    for (int k = 0; k < n.regions.count; ++k) {
      region const& g = m_.regions[m_.region_of(n, k)];
      if (k == 0 || n.kind != primitive::composite)
        for (int p = 0; p < g.arguments.count; ++p)
          edge(m_.operand(n, p), m_.values[m_.link(g.arguments, p)].node, false);
      for (int p = 0; p < g.results.count; ++p) edge(m_.link(g.results, p), i, true);
    }
  }
  /// One edge for all values that go from one box to another. A scope also computes gradients, so boxes make circles.
  /// Therefore, edges against the order of the first nodes do not rank boxes.
  void edges_of_boxes() {
    int now = 0;
    first_.assign(at(boxes_), -1);
    for (int r = 0; r < m_.region_count; ++r)
      if (m_.regions[r].kind == region_kind::entry && !m_.regions[r].removed) run(r, now);
    std::map<std::pair<int, int>, std::set<value_id>> between;
    for (int i = 0; i < m_.node_count; ++i) {
      if (box_[at(i)] < 0) continue;
      for (int k = 0; k < m_.nodes[i].operands.count; ++k) {
        std::set<value_id> from, seen;
        makers(m_.operand(m_.nodes[i], k), from, seen);
        for (value_id v : from)
          if (int const source = box_[m_.values[v].node]; source >= 0 && source != box_[at(i)])
            between[{source, box_[at(i)]}].insert(v);
      }
    }
    for (auto const& [ends, values] : between)
      text_ += "  " + box(ends.first) + " -> " + box(ends.second) + " [label=" +
               quoted(values.size() == 1 ? type_without_dtype(*values.begin())
                                         : std::to_string(values.size()) + " tensors") +
               (values.size() == 1 ? "" : ", penwidth=2") +
               (first_[at(ends.first)] < first_[at(ends.second)] ? "" : ", style=dashed, constraint=false") + "];\n";
  }

  std::vector<int> box_;  // the box of each node, or -1
  int boxes_ = 0;         // their number
  std::string text_;

 private:
  void edge(value_id v, int to, bool leaves) {
    text_ += "  " + vertex(m_.values[v].node) + " -> " + vertex(to) + " [label=" + quoted(type_without_dtype(v)) +
             (leaves ? ", style=dashed" : "") + "];\n";
  }

  /// Sets the time at which the first node of each box runs.
  void run(int r, int& now) {
    for (int i : inside_[at(r)]) {
      if (int const b = box_[at(i)]; b >= 0 && first_[at(b)] < 0) first_[at(b)] = now++;
      for (int k = 0; is_open(m_.nodes[i]) && k < m_.nodes[i].regions.count; ++k)
        run(m_.region_of(m_.nodes[i], k), now);
    }
  }
  /// The values of boxes that `v` stands for. An argument of a region stands for the operand outside, and a result of a
  /// loop or branch stands for the values that its regions return.
  void makers(value_id v, std::set<value_id>& into, std::set<value_id>& seen) const {
    if (!seen.insert(v).second) return;
    node const& n = m_.nodes[m_.values[v].node];
    if (n.kind == primitive::argument && owner_[n.region] >= 0) {
      node const& owner = m_.nodes[owner_[n.region]];
      list const arguments = m_.regions[n.region].arguments;
      for (int p = 0; p < arguments.count && p < owner.operands.count; ++p)
        if (m_.link(arguments, p) == v) makers(m_.operand(owner, p), into, seen);
    } else if (is_open(n)) {
      for (int k = 0; k < n.regions.count; ++k)
        if (list const results = m_.regions[m_.region_of(n, k)].results; m_.values[v].index < results.count)
          makers(m_.link(results, m_.values[v].index), into, seen);
    } else {
      into.insert(v);
    }
  }

  std::vector<int> first_;  // by box: the time at which its first node runs
};

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"

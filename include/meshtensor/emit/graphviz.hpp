// SPDX-License-Identifier: Apache-2.0
// Draws a module for Graphviz: a box around every region and scope, communication in colour, layouts on the edges.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/emit/graphviz/labels.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// The vertices of a graph: each single node, or one box for all nodes of a scope. `automatic` draws nodes if there are
/// few.
enum class graph_detail : std::uint8_t { automatic, nodes, scopes };

namespace detail {

class drawing : graph_labels {
 public:
  drawing(module const& m, graph_detail detail, binding const* numbers, int most_boxes = 60)
      : graph_labels(m, numbers),
        most_boxes_(most_boxes),
        inside_(at(m.region_count)),
        owner_(at(m.region_count), -1),
        box_(at(m.node_count), -1) {
    for (int i = 0; i < m.node_count; ++i) {
      inside_[m.nodes[i].region].push_back(i);
      for (int k = 0; k < m.nodes[i].regions.count; ++k) owner_[m.region_of(m.nodes[i], k)] = i;
    }
    by_scopes_ = detail == graph_detail::scopes || (detail == graph_detail::automatic && m.node_count > most_nodes);
  }

  std::string text() {
    draw();
    while (by_scopes_ && boxes_ > most_boxes_ && deepest_ > 1) depth_ = deepest_ - 1, draw();
    return std::move(text_ += "}\n");
  }

 private:
  static constexpr int most_nodes = 150;

  void draw() {
    text_ = "digraph module {\n  compound=true;\n";
    if (by_scopes_) text_ += "  newrank=true;\n";  // without it, Graphviz fails on circles between clusters
    text_ +=
        "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"sans-serif\", fontsize=10];\n"
        "  edge [fontname=\"sans-serif\", fontsize=8, color=gray40];\n";
    boxes_ = scopes_ = 0, deepest_ = 0;
    for (int r = 0; r < m_.region_count; ++r)
      if (m_.regions[r].kind == region_kind::entry && !m_.regions[r].removed) cluster(r, 2);
    if (by_scopes_) return edges_of_boxes();
    for (int i = 0; i < m_.node_count; ++i) edges(i);
  }

  static std::string vertex(int node) { return "n" + std::to_string(node); }
  static std::string box(int number) { return "s" + std::to_string(number); }
  /// Whether the nodes in the regions of a node are drawn in boxes, too. This holds for loops and branches.
  static bool is_open(node const& n) {
    return n.regions.count != 0 && n.kind != primitive::composite && n.kind != primitive::kernel;
  }

  void begin_cluster(std::string const& id, std::string const& title, std::size_t indent) {
    std::string const more(indent + 2, ' ');
    text_ += std::string(indent, ' ') + "subgraph cluster_" + id + " {\n" + more + "label=" + quoted(title) + ";\n" +
             more + "style=rounded;\n" + more + "color=gray60;\n" + more + "fontname=\"sans-serif\";\n";
  }
  void end_cluster(std::size_t indent) { text_ += std::string(indent, ' ') + "}\n"; }

  void cluster(int r, std::size_t indent) {
    begin_cluster("r" + std::to_string(r),
                  title_of_region(m_.regions[r], owner_[at(r)] < 0 ? nullptr : &m_.nodes[owner_[at(r)]]), indent);
    scope(inside_[at(r)], 0, "", indent + 2);
    end_cluster(indent);
  }
  /// The scopes of a node inside the scope of the node that owns its region, the outermost first.
  std::vector<path_id> scopes_of(int i) const {
    node const& n = m_.nodes[i];
    std::vector<path_id> all = chain(n.path);
    int const owner = owner_[n.region];
    std::vector<path_id> const outside = owner < 0 ? std::vector<path_id>{} : chain(m_.nodes[owner].path);
    std::size_t shared = 0;
    while (shared < all.size() && shared < outside.size() && all[shared] == outside[shared]) ++shared;
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shared));
    return all;
  }
  std::vector<path_id> chain(path_id p) const {
    std::vector<path_id> all;
    for (; p < m_.path_count; p = m_.paths[p].parent) all.insert(all.begin(), p);
    return all;
  }

  /// Draws nodes of a region that share their first `level` scopes. `name` is the name of the last of these scopes.
  void scope(std::vector<int> const& nodes, std::size_t level, std::string const& name, std::size_t indent) {
    std::vector<int> here;
    std::vector<std::pair<path_id, std::vector<int>>> below;
    for (int i : nodes) {
      std::vector<path_id> const all = scopes_of(i);
      deepest_ = std::max(deepest_, std::min(all.size(), depth_));
      if (all.size() <= level || level >= depth_) {
        here.push_back(i);
        continue;
      }
      if (below.empty() || below.back().first != all[level]) {
        auto const known = std::ranges::find(below, all[level], &std::pair<path_id, std::vector<int>>::first);
        if (known != below.end()) {
          known->second.push_back(i);
          continue;
        }
        below.push_back({all[level], {}});
      }
      below.back().second.push_back(i);
    }
    if (by_scopes_) box_of_scope(here, below.empty() ? name : "", indent);
    else
      for (int i : here) single(i, indent);
    for (auto const& [path, inner] : below) {
      std::string const inner_name = label(m_.paths[path].label);
      bool const is_one_box = by_scopes_ && std::ranges::none_of(inner, [&](int i) {
                                return is_open(m_.nodes[i]) || (scopes_of(i).size() > level + 1 && level + 1 < depth_);
                              });
      if (is_one_box) {
        scope(inner, level + 1, inner_name, indent);
        continue;
      }
      begin_cluster("s" + std::to_string(scopes_++), inner_name, indent);
      scope(inner, level + 1, "", indent + 2);
      end_cluster(indent);
    }
  }
  void single(int i, std::size_t indent) {
    node const& n = m_.nodes[i];
    text_ += std::string(indent, ' ') + vertex(i) + " [label=" + quoted(head(n)) + ", tooltip=" + quoted(origin(n)) +
             look(n) + "];\n";
    for (int k = 0; k < n.regions.count; ++k) cluster(m_.region_of(n, k), indent);
  }
  /// Draws one vertex for inputs, one for outputs and one for the other nodes, and then the regions that loops and
  /// branches own. Inputs and outputs are apart, because a common vertex would make circles.
  void box_of_scope(std::vector<int> const& nodes, std::string const& name, std::size_t indent) {
    std::vector<int> inputs, outputs, others;
    for (int i : nodes) {
      node const& n = m_.nodes[i];
      if (n.kind == primitive::argument || is_open(n)) continue;
      (n.kind == primitive::input ? inputs : n.kind == primitive::output ? outputs : others).push_back(i);
    }
    for (auto const* all : {&inputs, &others, &outputs}) {
      if (all->empty()) continue;
      for (int i : *all) box_[at(i)] = boxes_;
      std::vector<std::string> lines = summary(*all);
      if (!name.empty()) lines.insert(lines.begin(), name);
      text_ += std::string(indent, ' ') + box(boxes_++) + " [label=" + quoted(lines) +
               ", tooltip=" + quoted(path(m_.nodes[all->front()].path)) + look_of_box(*all) + "];\n";
    }
    for (int i : nodes)
      for (int k = 0; is_open(m_.nodes[i]) && k < m_.nodes[i].regions.count; ++k)
        cluster(m_.region_of(m_.nodes[i], k), indent);
  }

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
  void edge(value_id v, int to, bool leaves) {
    text_ += "  " + vertex(m_.values[v].node) + " -> " + vertex(to) + " [label=" + quoted(type_without_dtype(v)) +
             (leaves ? ", style=dashed" : "") + "];\n";
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

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  int most_boxes_;
  std::vector<std::vector<int>> inside_;  // the nodes of each region
  std::vector<int> owner_;                // the node that owns each region, or -1
  std::vector<int> box_;                  // the box of each node, or -1
  std::vector<int> first_;                // by box: the time at which its first node runs
  bool by_scopes_ = false;
  int boxes_ = 0, scopes_ = 0;
  std::size_t depth_ = 64, deepest_ = 0;  // the scopes that are drawn, and that there are
  std::string text_;
};

}  // namespace detail

/// The module in the DOT language, for `dot -Tsvg`. Regions and scopes are boxes within each other. The body of a
/// `repeat` is drawn once, with the number of its iterations if `numbers` or the program have it. A large graph has one
/// vertex for each scope, which lists its operations. If there are too many scopes, the innermost ones are left out.
template <class = lazy>
std::string graphviz(module const& m, graph_detail how = graph_detail::automatic, binding const* numbers = nullptr) {
  return detail::drawing(m, how, numbers).text();
}

#if MESHTENSOR_COMPILED
extern template std::string graphviz<lazy>(module const&, graph_detail, binding const*);
#endif

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

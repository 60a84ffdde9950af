// SPDX-License-Identifier: Apache-2.0
// Draws a module for Graphviz: a box around every region and scope, communication in colour, layouts on the edges.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/emit/graphviz/edges.hpp"
#include "meshtensor/graph/module.hpp"
#include "meshtensor/pass/bind/binding.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// The vertices of a graph: each single node, or one box for all nodes of a scope. `automatic` draws nodes if there are
/// few.
enum class graph_detail : std::uint8_t { automatic, nodes, scopes };

namespace detail {

class drawing : graph_edges {
 public:
  drawing(module const& m, graph_detail detail, binding const* numbers, int most_boxes = 60)
      : graph_edges(m, numbers), most_boxes_(most_boxes) {
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

  int most_boxes_;
  bool by_scopes_ = false;
  int scopes_ = 0;
  std::size_t depth_ = 64, deepest_ = 0;  // the scopes that are drawn, and that there are
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

// SPDX-License-Identifier: Apache-2.0
// Draws a module for Graphviz: a box around every region, communication in colour, dims and layouts on the edges.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/graph/owner.hpp"
#include "meshtensor/graph/spell.hpp"
#include "meshtensor/op/rules.hpp"

namespace meshtensor {
namespace detail {

class drawing : speller {
 public:
  explicit drawing(module const& m) : speller(m), inside_(at(m.region_count)), owner_(at(m.region_count), -1) {
    for (int i = 0; i < m.node_count; ++i) {
      inside_[m.nodes[i].region].push_back(i);
      for (int k = 0; k < m.nodes[i].regions.count; ++k) owner_[m.region_of(m.nodes[i], k)] = i;
    }
  }

  std::string text() {
    text_ =
        "digraph module {\n"
        "  compound=true;\n"
        "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"sans-serif\", fontsize=10];\n"
        "  edge [fontname=\"sans-serif\", fontsize=8, color=gray40];\n";
    for (int r = 0; r < m_.region_count; ++r)
      if (m_.regions[r].kind == region_kind::entry && !m_.regions[r].removed) cluster(r, 2);
    for (int i = 0; i < m_.node_count; ++i) edges(i);
    return std::move(text_ += "}\n");
  }

 private:
  static std::string quoted(std::string_view s) {
    std::string r = "\"";
    for (char c : s) {
      if (c == '"' || c == '\\') r += '\\';
      r += c;
    }
    return r + "\"";
  }
  static std::string vertex(int node) { return "n" + std::to_string(node); }

  void cluster(int r, std::size_t indent) {
    constexpr char const* words[] = {"entry", "body", "condition", "branch", "body", "gradient", "kernel"};
    std::string const pad(indent, ' '), more(indent + 2, ' ');
    region const& g = m_.regions[r];
    std::string title = words[static_cast<int>(g.kind)];
    if (g.kind == region_kind::entry) title += " " + label(g.label);
    else if (owner_[at(r)] >= 0) title = head(m_.nodes[owner_[at(r)]]) + ": " + title;
    text_ += pad + "subgraph cluster_" + std::to_string(r) + " {\n" + more + "label=" + quoted(title) + ";\n" + more +
             "style=rounded;\n" + more + "color=gray60;\n" + more + "fontname=\"sans-serif\";\n";
    for (int i : inside_[at(r)]) {
      node const& n = m_.nodes[i];
      text_ += more + vertex(i) + " [label=" + quoted(head(n)) + ", tooltip=" + quoted(origin(n)) + look(n) + "];\n";
      for (int k = 0; k < n.regions.count; ++k) cluster(m_.region_of(n, k), indent + 2);
    }
    text_ += pad + "}\n";
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
    text_ += "  " + vertex(m_.values[v].node) + " -> " + vertex(to) +
             " [label=" + quoted(dims(m_.values[v].dims, m_.values[v].layout)) + (leaves ? ", style=dashed" : "") +
             "];\n";
  }

  std::string head(node const& n) const {
    switch (n.kind) {
      case primitive::input:
      case primitive::output:
      case primitive::watch:
      case primitive::composite: return std::string(text_of(n)) + " " + label(name_of(n));
      case primitive::read:
      case primitive::write:
        return std::string(text_of(n)) + " " +
               (variable_of(n) < m_.variable_count ? path(m_.variables[variable_of(n)].path) : "?");
      case primitive::argument: return "argument " + std::to_string(place_of(n));
      case primitive::repeat:
        return "repeat " + dim(loop::of(n).dim) + (loop::of(n).ends_early ? ", or less often" : "");
      default: break;
    }
    if (declared(n.kind).fusion == fusion_role::number) return number(constant_attributes::of(n).number);
    bool const moves = is_collective(n.kind) || n.kind == primitive::local_slice;
    return text_of(n) + (moves ? " " + axes(axes_of_collective(n)) : std::string());
  }

  static std::string look(node const& n) {
    if (is_collective(n.kind)) return ", fillcolor=orange";
    if (declared(n.kind).work == work_kind::product) return ", fillcolor=palegreen";
    if (declared(n.kind).fusion == fusion_role::number) return ", shape=plaintext, style=\"\"";
    switch (n.kind) {
      case primitive::read:
      case primitive::write: return ", fillcolor=lightyellow";
      case primitive::input:
      case primitive::output:
      case primitive::watch: return ", fillcolor=lightblue";
      case primitive::argument: return ", shape=plaintext, style=\"\"";
      default: return n.regions.count != 0 ? ", fillcolor=gray90" : "";
    }
  }

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  std::vector<std::vector<int>> inside_;  // nodes by region
  std::vector<int> owner_;                // node by region, or -1
  std::string text_;
};

}  // namespace detail

/// The module in the DOT language, for `dot -Tsvg`.
template <class = lazy>
std::string graphviz(module const& m) {
  return detail::drawing(m).text();
}

#if MESHTENSOR_COMPILED
extern template std::string graphviz<lazy>(module const&);
#endif

}  // namespace meshtensor

// SPDX-License-Identifier: Apache-2.0
// Writes the text of a module (print.hpp), line by line.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/emit/print.hpp"
#include "meshtensor/emit/printer/actions.hpp"
#include "meshtensor/emit/printer/tables.hpp"
#include "meshtensor/graph/module.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

namespace detail {

class printer : action_speller {
 public:
  explicit printer(module const& m) : action_speller(m), inside_(static_cast<std::size_t>(m.region_count)) {
    for (int i = 0; i < m.node_count; ++i)
      if (m.nodes[i].region < m.region_count) inside_[m.nodes[i].region].push_back(i);
  }

  [[gnu::cold]] std::string text() {
    text_ = table_printer(m_).text();
    for (int r = 0; r < m_.region_count; ++r)
      if (m_.regions[r].kind == region_kind::entry && !m_.regions[r].removed) {
        text_ += "entry " + label(m_.regions[r].label) + "\n";
        nodes(static_cast<region_id>(r), 2);
      }
    if (!m_.report.empty()) text_ += "report " + std::string(m_.report.view()) + "\n";
    return std::move(text_);
  }

 private:
  struct line_of_node {
    std::string left, right, from;
    int node;
  };

  [[gnu::cold]] void nodes(region_id r, std::size_t indent) {
    std::vector<line_of_node> lines;
    std::size_t left = 0, right = 0;
    for (int i : inside_[r]) {
      node const& n = m_.nodes[i];
      if (n.kind == primitive::argument) continue;  // printed with its region
      lines.push_back({results(n), action(n), origin(n), i});
      if (lines.back().left.size() <= 48) left = std::max(left, lines.back().left.size());
      if (lines.back().right.size() <= 48) right = std::max(right, lines.back().right.size());
    }
    for (line_of_node const& l : lines) {
      std::string row = std::string(indent, ' ') + l.left;
      row.append(l.left.size() < left ? left - l.left.size() : 0, ' ');
      row += (l.left.empty() ? "    " : "  = ") + l.right;
      row.append(l.right.size() < right ? right - l.right.size() : 0, ' ');
      if (!l.from.empty()) row += "  # " + l.from;
      text_ += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
      node const& n = m_.nodes[l.node];
      for (int k = 0; k < n.regions.count; ++k) region_text(n, k, indent + 2);
    }
  }

  [[gnu::cold]] void region_text(node const& n, int k, std::size_t indent) {
    region_id const r = m_.region_of(n, k);
    if (r >= m_.region_count) return;
    region const& g = m_.regions[r];
    text_ += std::string(indent, ' ') + text_of(g.kind) + taken(n, g.arguments) + "\n";
    nodes(r, indent + 2);
    text_ += std::string(indent + 2, ' ') + "give";
    text_ += n.kind == primitive::repeat ? given(n, g.results) : " " + refs(g.results);
    text_ += "\n";
  }
  [[gnu::cold]] std::string taken(node const& n, list arguments) const {
    auto typed = [&](int first, int end) {
      std::string r;
      for (int i = first; i < end; ++i)
        r += (i == first ? "" : ", ") + ref(m_.link(arguments, i)) + ": " + type(m_.link(arguments, i));
      return r;
    };
    if (n.kind != primitive::repeat) return (arguments.count == 0 ? "" : " ") + typed(0, arguments.count);
    loop const l = loop::of(n);
    return parts({{"carry", typed(0, l.carries)},
                  {"stacked", typed(l.carries, l.carries + l.stacked)},
                  {"invariant", typed(l.carries + l.stacked, arguments.count)}},
                 " ");
  }
  [[gnu::cold]] std::string given(node const& n, list values) const {
    loop const l = loop::of(n);
    return parts({{"carry", refs(values, 0, l.carries)},
                  {"sum", refs(values, l.carries, l.carries + l.sums)},
                  {"stack", refs(values, l.carries + l.sums, values.count)}},
                 " ");
  }
  [[gnu::cold]] std::string results(node const& n) const {
    std::string r;
    for (int i = 0; i < n.results.count; ++i)
      r += (i == 0 ? "" : ", ") + ref(m_.result(n, i)) + ": " + type(m_.result(n, i));
    return r;
  }

  std::vector<std::vector<int>> inside_;  // the nodes of each region
  std::string text_;
};

}  // namespace detail

template <class>
std::string text_of(module const& m) {
  return detail::printer(m).text();
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

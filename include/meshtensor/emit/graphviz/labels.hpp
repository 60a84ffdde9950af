// SPDX-License-Identifier: Apache-2.0
// The labels and looks of a graph's nodes and regions in the DOT language.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meshtensor/graph/owner.hpp"
#include "meshtensor/graph/spell.hpp"
#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/bind/binding.hpp"

namespace meshtensor::detail {

class graph_labels : protected speller {
 public:
  /// `numbers` may be null. In this case, a loop has the number of its iterations only if its dim is fixed.
  graph_labels(module const& m, binding const* numbers) : speller(m), numbers_(numbers) {}

 protected:
  static std::string quoted(std::string_view s) { return quoted(std::vector<std::string>{std::string(s)}); }
  /// The lines as one string of DOT, below each other.
  static std::string quoted(std::vector<std::string> const& lines) {
    std::string r = "\"";
    for (std::string const& line : lines) {
      if (&line != &lines[0]) r += "\\n";
      for (char c : line) {
        if (c == '"' || c == '\\') r += '\\';
        r += c;
      }
    }
    return r + "\"";
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

  /// `repeat layers, 4 times: body`
  std::string title_of_region(region const& g, node const* owner) const {
    std::string title = text_of(g.kind);
    if (g.kind == region_kind::entry) return title + " " + label(g.label);
    if (owner == nullptr) return title;
    std::int64_t const times = owner->kind == primitive::repeat ? extent(loop::of(*owner).dim) : 0;
    return head(*owner) + (times > 0 ? ", " + std::to_string(times) + " times" : "") + ": " + title;
  }
  /// A summary of nodes of a scope: the most frequent operations with their numbers, and all collectives.
  std::vector<std::string> summary(std::vector<int> const& nodes) const {
    std::map<std::string, int> operations, collectives;
    for (int i : nodes) {
      node const& n = m_.nodes[i];
      bool const is_port = n.kind == primitive::input || n.kind == primitive::output;
      std::string const what = n.kind == primitive::composite ? label(name_of(n)) : is_port ? head(n) : text_of(n);
      ++(is_collective(n.kind) ? collectives[head(n)] : operations[what]);
    }
    constexpr std::size_t most = 4;
    std::vector<std::pair<int, std::string>> order;
    for (auto const& [what, count] : operations) order.emplace_back(-count, what);
    std::sort(order.begin(), order.end());
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < std::min(most, order.size()); ++i)
      lines.push_back(times(order[i].second, -order[i].first));
    if (order.size() > most) lines.push_back("and " + std::to_string(order.size() - most) + " other operations");
    for (auto const& [what, count] : collectives) lines.push_back(times(what, count));
    return lines;
  }
  std::string look_of_box(std::vector<int> const& nodes) const {
    if (std::ranges::any_of(nodes, [this](int i) { return is_collective(m_.nodes[i].kind); }))
      return ", fillcolor=orange";
    for (int i : nodes)
      if (look(m_.nodes[i]) != look(m_.nodes[nodes[0]])) return "";
    return look(m_.nodes[nodes[0]]);  // all alike: parameters, inputs, outputs
  }
  std::string type_without_dtype(value_id v) const { return dims(m_.values[v].dims, m_.values[v].layout); }

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

 private:
  /// The extent of a dim, or 0 if it is not known.
  std::int64_t extent(dim_id d) const {
    if (numbers_ != nullptr) return numbers_->extent[d];
    return m_.dims[d].kind == dim_row::fixed ? m_.dims[d].value : 0;
  }
  static std::string times(std::string const& what, int count) {
    return count == 1 ? what : what + " x" + std::to_string(count);
  }

  binding const* numbers_;
};

}  // namespace meshtensor::detail

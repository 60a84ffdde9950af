// SPDX-License-Identifier: Apache-2.0
// Writes the parts of a module as text: dims, paths, layouts, numbers. All output about a module uses the same
// notation.
#pragma once

#include <charconv>
#include <string>

#include "meshtensor/graph/locate.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// How printed graphs call a region of this kind: loops, composites and kernels all have a body.
constexpr char const* text_of(region_kind kind) {
  constexpr char const* words[] = {"entry", "body", "branch", "body", "gradient", "body"};
  return words[static_cast<int>(kind)];
}

/// Writes rows of a module's tables as text. A row that does not exist is a question mark.
class speller {
 public:
  explicit speller(module const& m) : m_(m) {}

  std::string label(int row) const { return row < m_.name_count ? m_.names[row].text() : "?"; }
  std::string dim(int d) const { return d < m_.dim_count ? label(m_.dims[d].label) : "?"; }
  std::string path(path_id p) const {
    if (p >= m_.path_count) return "";
    std::string const outer = path(m_.paths[p].parent);
    return (outer.empty() ? outer : outer + "/") + label(m_.paths[p].label);
  }
  [[gnu::cold]] std::string axes(unsigned mask) const {
    std::string r;
    for (int a = 0; a < max_axes; ++a)
      if ((mask >> a & 1u) != 0) r += (r.empty() ? "" : ", ") + axis(a);
    return r;
  }
  /// Dims with their layout, for example `batch/data, hidden | partial model`.
  [[gnu::cold]] std::string dims(shape const& s, placement const& p) const {
    std::string r;
    for (int i = 0; i < s.count; ++i) {
      if (i != 0) r += ", ";  // sums of literals and strings make g++ 12 see overflows
      r += dim(s.at[i]);
      for (int o = 0, a = 0; (a = p.axis_at(i, o)) >= 0; ++o) r.append("/").append(axis(a));
    }
    bool first = true;
    for (int a = 0; a < max_axes; ++a) {
      if (!p.is_partial(a)) continue;
      r += first ? (r.empty() ? "| partial " : " | partial ") : ", ";
      if (p.part(a) != reduction::sum) r += std::string(text_of(p.part(a))) + " ";
      r += axis(a);
      first = false;
    }
    return r;
  }
  /// The type of a value, for example `bf16[batch/data, hidden]`.
  std::string type(value_id v) const {
    if (v >= m_.value_count) return "?";
    return std::string(text_of(m_.values[v].type)) + "[" + dims(m_.values[v].dims, m_.values[v].layout) + "]";
  }
  /// A row of the table of numbers as an expression, for example `0.5`, `extent(d_head)` or `rate * 2`.
  std::string number(number_id row) const { return number(row, false); }
  std::string axis(int a) const { return a < m_.axis_count ? label(m_.axes[a].label) : "axis " + std::to_string(a); }
  /// The line of a node, for example `train.cpp:88`. The text is empty if the line is not known.
  [[gnu::cold]] std::string line_of(node const& n) const {
    if (n.site >= m_.site_count || m_.sites[n.site].line == 0) return "";
    return std::string(file_name(m_.sites[n.site])) + ":" + std::to_string(m_.sites[n.site].line);
  }
  /// The origin of a node, for example `train.cpp:88 decoder/attention`.
  [[gnu::cold]] std::string origin(node const& n) const {
    std::string r = line_of(n);
    std::string const where = path(n.path);
    return r + (r.empty() || where.empty() ? "" : " ") + where;
  }

 protected:
  meshtensor::module const& m_;

 private:
  static std::string literal(number_value const& v) {
    diagnostic exact{};
    if (v.rest != 0) return std::string(add_exact(exact, v).view());
    char buffer[32];
    return {buffer, std::to_chars(buffer, buffer + sizeof buffer, v.real).ptr};
  }
  [[gnu::cold]] std::string number(number_id row, bool inner) const {
    if (row >= m_.number_count) return "?";
    number_row const& n = m_.numbers[row];
    switch (n.kind) {
      case number_row::literal: return literal(n.value);
      case number_row::named: return label(n.first);
      case number_row::extent: return "extent(" + dim(n.first) + ")";
      case number_row::step:
      case number_row::schedule: return "step";
      case number_row::updates: return "updates(" + path(static_cast<path_id>(n.first)) + ")";
      case number_row::most_updates: return "most_updates(" + path(static_cast<path_id>(n.first)) + ")";
      case number_row::seed: return "seed";
      default: break;
    }
    char const* const sign = n.f == function::add        ? " + "
                             : n.f == function::subtract ? " - "
                             : n.f == function::multiply ? " * "
                             : n.f == function::divide   ? " / "
                                                         : nullptr;
    auto const first = static_cast<number_id>(n.first), second = static_cast<number_id>(n.second);
    if (sign == nullptr)
      return std::string(text_of(n.f)) + "(" + number(first) + (arity(n.f) == 2 ? ", " + number(second) : "") + ")";
    std::string const r = number(first, true) + sign + number(second, true);
    return inner ? "(" + r + ")" : r;
  }
};

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

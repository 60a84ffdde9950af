// SPDX-License-Identifier: Apache-2.0
// Writes the text of a module (print.hpp), line by line.
#pragma once

#include <string>
#include <vector>

#include "meshtensor/emit/print.hpp"
#include "meshtensor/graph/spell.hpp"
#include "meshtensor/op/rules.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {
namespace detail {

class printer : speller {
 public:
  explicit printer(module const& m) : speller(m), inside_(static_cast<std::size_t>(m.region_count)) {
    for (int i = 0; i < m.node_count; ++i)
      if (m.nodes[i].region < m.region_count) inside_[m.nodes[i].region].push_back(i);
  }

  [[gnu::cold]] std::string text() {
    tables();
    for (int r = 0; r < m_.region_count; ++r)
      if (m_.regions[r].kind == region_kind::entry && !m_.regions[r].removed) {
        text_ += "entry " + label(m_.regions[r].label) + "\n";
        nodes(static_cast<region_id>(r), 2);
      }
    if (!m_.report.empty()) text_ += "report " + std::string(m_.report.view()) + "\n";
    return std::move(text_);
  }

 private:
  static std::string ref(value_id v) { return v == no_id ? "%?" : "%" + std::to_string(v); }
  std::string refs(list l, int first, int end) const {
    std::string r;
    for (int i = first; i < end; ++i) r += (i == first ? "" : ", ") + ref(m_.link(l, i));
    return r;
  }
  std::string refs(list l) const { return refs(l, 0, l.count); }

  [[gnu::cold]] void tables() {
    std::string all;
    for (int d = 0; d < m_.dim_count; ++d) {
      dim_row const& row = m_.dims[d];
      all += (d == 0 ? "dims " : ", ") + dim(d);
      switch (row.kind) {
        case dim_row::fixed: all += " = " + std::to_string(row.value); break;
        case dim_row::product: all += " = " + dim(row.first) + " * " + dim(row.second); break;
        case dim_row::sum: all += " = " + dim(row.first) + " + " + dim(row.second); break;
        case dim_row::shifted:
          all += " = " + dim(row.first) + (row.value < 0 ? " - " : " + ") +
                 std::to_string(row.value < 0 ? -row.value : row.value);
          break;
        case dim_row::same: all += " = " + dim(row.first); break;
        case dim_row::holders: all += " = holders of " + dim(row.first); break;
        case dim_row::rows: all += " = rows for " + dim(row.first); break;
        case dim_row::sent: all += " = those sent of " + dim(row.first); break;
        case dim_row::counted: all += " = " + number(static_cast<number_id>(row.value)); break;
        case dim_row::blocks: all += " = shards of " + dim(row.first); break;
        case dim_row::in_block: all += " = " + dim(row.first) + " / " + dim(row.second); break;
        case dim_row::windowed: {
          auto const places = window_places::of(row.value);
          all += " = (" + dim(row.first) + (places.offset < 0 ? " - " : " + ") +
                 std::to_string(places.offset < 0 ? -places.offset : places.offset) + ") / " +
                 std::to_string(places.stride) + " + 1";
          break;
        }
        case dim_row::cover: all += " = " + dim(row.first) + " reached from parts of " + dim(row.second); break;
        case dim_row::dynamic: break;
      }
    }
    if (!all.empty()) text_ += all + "\n";
    all.clear();
    for (int a = 0; a < m_.axis_count; ++a)
      all += (a == 0 ? "mesh " : ", ") + axis(a) +
             (m_.axes[a].extent == 0 ? "" : " = " + std::to_string(m_.axes[a].extent));
    if (!all.empty()) text_ += all + "\n";
    for (int i = 0; i < m_.variable_count; ++i) {
      variable const& v = m_.variables[i];
      text_ += (v.trainable ? "parameter " : "state ") + path(v.path) + ": " + text_of(v.type) + "[" +
               dims(v.dims, v.layout) + "]";
      switch (v.start) {
        case initializer_kind::automatic: break;
        case initializer_kind::constant: text_ += " = " + number(v.number); break;
        case initializer_kind::normal: text_ += " = normal(" + number(v.number) + ")"; break;
        case initializer_kind::uniform: text_ += " = uniform(" + number(v.number) + ")"; break;
      }
      text_ += "\n";
    }
  }

  // ---- nodes ----

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
  // `carry %1; invariant %2`: the groups of a loop's operands or results, without empty groups.
  [[gnu::cold]] static std::string parts(std::initializer_list<std::pair<char const*, std::string>> all,
                                         std::string const& start) {
    std::string r;
    for (auto const& [word, list_text] : all)
      if (!list_text.empty()) r += (r.empty() ? start : "; ") + word + " " + list_text;
    return r;
  }

  [[gnu::cold]] std::string results(node const& n) const {
    std::string r;
    for (int i = 0; i < n.results.count; ++i)
      r += (i == 0 ? "" : ", ") + ref(m_.result(n, i)) + ": " + type(m_.result(n, i));
    return r;
  }

  [[gnu::cold]] std::string action(node const& n) const {
    std::string const operands = "(" + refs(n.operands) + ")";
    auto named = [&](auto const& what) { return std::string(text_of(n)) + "(" + what + ")"; };
    auto with = [&](std::string const& more) { return text_of(n) + ("(" + refs(n.operands) + ", " + more + ")"); };
    collective_attributes const c = collective_attributes::of(n);
    switch (n.kind) {
      case primitive::input: return named(label(name_of(n)));
      case primitive::read: return named(path_of_variable(variable_of(n)));
      case primitive::write: return with(path_of_variable(variable_of(n)));
      case primitive::output:
      case primitive::watch: return with(label(name_of(n)));
      case primitive::repeat: return repeated(n);
      case primitive::composite: return label(name_of(n)) + operands;
      case primitive::all_reduce: return text_of(n) + (" " + kind_of_sum(n)) + operands + " over " + axes(c.axes);
      case primitive::reduce_scatter:
        return text_of(n) + (" " + kind_of_sum(n)) + operands + " over " + axes(c.axes) + " into " + dim(c.split);
      case primitive::all_gather: return text_of(n) + operands + " over " + axes(c.axes) + " of " + dim(c.join);
      case primitive::local_slice: return text_of(n) + operands + " over " + axes(c.axes) + " of " + dim(c.split);
      case primitive::move: return moved(n);
      case primitive::move_rows: {
        move_rows_attributes const a = move_rows_attributes::of(n);
        return text_of(n) + operands + " over " + axes(a.axes) + (a.back ? " back to " : " to ") + dim(a.to);
      }
      case primitive::all_to_all:
        return text_of(n) + operands + " over " + axes(c.axes) + " from " + dim(c.join) + " to " + dim(c.split);
      default: return operation(n);
    }
  }
  [[gnu::cold]] std::string moved(node const& n) const {
    move_attributes const a = move_attributes::of(n);
    std::string r = text_of(n) + ("(" + refs(n.operands) + ")") + " over " + axes(a.axes);
    if (a.first == no_id) return r;
    constexpr char const* how[] = {" from ", " around from ", " back from ", " at "};
    r += " along " + dim(a.from) + (a.to == a.from ? "" : " -> " + dim(a.to));
    r += how[static_cast<int>(a.how)] + number(a.first);
    return a.step == no_id ? r : r + " by " + number(a.step);
  }
  // Prints an operation as its declaration says.
  [[gnu::cold]] std::string operation(node const& n) const {
    declaration const& d = declared(m_, n);
    name const* const own = own_name_of(m_, n);
    std::string const called = own == nullptr ? text_of(n) : own->text(), operands = refs(n.operands);
    switch (d.fusion) {
      case fusion_role::number: return called + "(" + number(constant_attributes::of(n).number) + ")";
      case fusion_role::random:
        return (n.function == 0 ? "uniform(" : "normal(") + path(n.path) + " #" + std::to_string(n.ordinal) + ")";
      case fusion_role::reduction: return kind_of_sum(n) + "(" + operands + ")" + lost(n);
      default: break;
    }
    std::string const more = words(d, n), given = operands + (operands.empty() || more.empty() ? "" : ", ") + more;
    return called + "(" + given + ")" + (d.work == work_kind::product ? lost(n) : "");
  }
  // The declaration's text, such as `along {0}[ at {1}]`, with a node's attributes filled in.
  [[gnu::cold]] std::string words(declaration const& d, node const& n) const {
    std::string all;
    for (char const* c = d.text; *c != '\0'; ++c) {
      if (*c == '{') {
        all += attribute(d, n, c[1] - '0');
        c += 2;
      } else if (*c == '[') {
        char const* inner = c;
        while (*inner != '{') ++inner;
        if (n.attribute[inner[1] - '0'] != id{no_id}) continue;
        while (*c != ']') ++c;
      } else if (*c != ']') {
        all += *c;
      }
    }
    return all;
  }
  [[gnu::cold]] std::string attribute(declaration const& d, node const& n, int k) const {
    switch (d.attributes[k].kind) {
      case attribute_kind::dim: return dim(n.attribute[k]);
      case attribute_kind::number:
      case attribute_kind::place: return number(static_cast<number_id>(n.attribute[k]));
      case attribute_kind::name: return label(n.attribute[k]);
      case attribute_kind::request: return requested(n);
      case attribute_kind::windows: return windows(n.attribute[k], n.attribute[k + 1]);
      default: return std::to_string(n.attribute[k]);
    }
  }
  // `length/model, d_model whole`: the layout that a reshard asks for.
  [[gnu::cold]] std::string requested(node const& n) const {
    std::string r;
    reshard_attributes const rows = reshard_attributes::of(n);
    for (int i = rows.first; i < rows.first + rows.count && i < m_.request_count; ++i) {
      r += r.empty() ? "" : ", ";
      r += dim(m_.requests[i].dim);
      for (int a = 0; a < m_.requests[i].count; ++a) (r += '/') += label(m_.requests[i].axes[a]);
      if (m_.requests[i].count == 0) r += " whole";
    }
    return r;
  }
  // `rows -> rows_2 by 2 window kernel padded 1 + 1` for each window.
  [[gnu::cold]] std::string windows(int first, int count) const {
    std::string r;
    for (int i = first; i < first + count && i < m_.window_count; ++i) {
      window_row const& w = m_.windows[i];
      r += (i == first ? "" : ", ") + dim(w.input) + " -> " + dim(w.output) + " by " + std::to_string(w.stride) +
           " window " + dim(w.kernel) + (w.dilation == 1 ? "" : " x " + std::to_string(w.dilation)) + " padded " +
           number(w.low) + " + " + number(w.high);
    }
    return r;
  }
  std::string path_of_variable(variable_id v) const { return v < m_.variable_count ? path(m_.variables[v].path) : "?"; }
  static std::string kind_of_sum(node const& n) { return text_of(static_cast<reduction>(n.function)); }

  // ` over embed`: the dims that the operands have and the result lacks.
  [[gnu::cold]] std::string lost(node const& n) const {
    shape all{};
    for (int i = 0; i < n.operands.count; ++i)
      if (m_.operand(n, i) < m_.value_count) all = united(all, m_.operand_value(n, i).dims);
    if (n.results.count != 0 && m_.result(n) < m_.value_count) all = without(all, m_.result_value(n).dims);
    return all.count == 0 ? "" : " over " + dims(all, placement{});
  }
  [[gnu::cold]] std::string repeated(node const& n) const {
    loop const l = loop::of(n);
    return "repeat " + dim(l.dim) + (l.reversed ? " backwards" : "") + (l.ends_early ? " up to its first carry" : "") +
           parts({{"carry", refs(n.operands, 0, l.carries)},
                  {"stacked", refs(n.operands, l.carries, l.carries + l.stacked)},
                  {"invariant", refs(n.operands, l.carries + l.stacked, n.operands.count)}},
                 " (") +
           ")";
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

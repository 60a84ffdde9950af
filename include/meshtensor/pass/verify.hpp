// SPDX-License-Identifier: Apache-2.0
// Checks the invariants that every pass relies on: ids, order, regions, and each operation by its own rule.
// before: any module.  after: the same. The first fault found is one sentence.
// why: if a pass breaks something, this check finds it right after the pass, at the line of the user's node.
#pragma once

#include "meshtensor/graph/locate.hpp"
#include "meshtensor/graph/owner.hpp"
#include "meshtensor/op/rules.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {
namespace detail {

struct verifier {
  meshtensor::module const& m;
  diagnostic found;
  bool owned[max_regions];
  std::uint64_t written[max_variables][(max_regions + 63) / 64];  // one bit for each entry that writes the variable

  constexpr explicit verifier(module const& target) : m(target), found{}, owned{}, written{} {
    if (char const* fault = tables()) {
      say(fault);
      return;
    }
    for (int i = 0; i < m.node_count; ++i)
      if (char const* fault = check(i, m.nodes[i])) {
        say(fault);
        locate(found, m, m.nodes[i]);
        return;
      }
    if (char const* fault = regions()) say(fault);
  }

 private:
  constexpr void say(char const* fault) { found << "G40 " << fault; }

  constexpr bool is_shape(shape const& s) const {
    static_assert(max_dims <= 128);
    std::uint64_t seen[2] = {0, 0};  // one bit for each dim
    bool fine = s.count <= shape::capacity;
    for (int i = 0; fine && i < s.count; ++i)
      fine = s.at[i] < m.dim_count && (seen[s.at[i] >> 6] >> (s.at[i] & 63) & 1u) == 0,
      seen[s.at[i] >> 6 & 1] |= std::uint64_t{1} << (s.at[i] & 63);
    return fine;
  }

  constexpr char const* tables() const {
    if (m.node_count > max_nodes || m.value_count > max_values || m.link_count > max_links ||
        m.region_count > max_regions)
      return "a table's row count exceeds its capacity";
    for (int i = 0; i < m.dim_count; ++i) {
      dim_row const& d = m.dims[i];
      if (d.label >= m.name_count) return "a dim has no name";
      bool const has_second = d.kind == dim_row::product || d.kind == dim_row::sum || d.kind == dim_row::in_block ||
                              d.kind == dim_row::halo || d.kind == dim_row::quotient;
      if (d.kind > dim_row::dynamic && d.kind != dim_row::counted && (d.first >= i || (has_second && d.second >= i)))
        return "a dim is derived from a later one";
    }
    for (int i = 0; i < m.axis_count; ++i)
      if (m.axes[i].label >= m.name_count) return "a mesh axis has no name";
    for (int i = 0; i < m.path_count; ++i)
      if (m.paths[i].label >= m.name_count || (m.paths[i].parent != no_id && m.paths[i].parent >= i))
        return "a path comes before its parent";
    for (int i = 0; i < m.number_count; ++i) {
      number_row const& n = m.numbers[i];
      bool const known = n.kind == number_row::expression ? n.first < i && (arity(n.f) == 1 || n.second < i)
                         : n.kind == number_row::extent   ? n.first < m.dim_count
                         : n.kind == number_row::named    ? n.first < m.name_count
                         : n.kind >= number_row::updates  ? n.first < m.path_count || n.first == id{no_id}
                                                          : true;
      if (!known) return "a number is computed from one that does not exist";
    }
    for (int i = 0; i < m.variable_count; ++i) {
      variable const& v = m.variables[i];
      if (v.path >= m.path_count || v.number >= m.number_count || !is_shape(v.dims))
        return "a variable has no path, number or dims";
    }
    return nullptr;
  }

  constexpr char const* check(int i, node const& n) {
    if (n.kind >= primitive::count_) return "a node is of no kind";
    if (n.kind == primitive::extension && n.function >= m.extension_count) return "an extension is not declared";
    if (!declared(m, n).fits(n)) return "a node has another number of operands, results or regions than its kind";
    if (n.region >= m.region_count || m.regions[n.region].removed) return "a node is in a region that does not exist";
    if (owned[n.region]) return "a node comes after the one that owns its region";
    if ((n.path != no_id && n.path >= m.path_count) || (n.site != no_id && n.site >= m.site_count))
      return "a node has a path or line that is not there";
    if (n.operands.first + n.operands.count > m.link_count || n.results.first + n.results.count > m.link_count ||
        n.regions.first + n.regions.count > m.link_count)
      return "a node's list reaches beyond the table of links";
    for (int k = 0; k < n.operands.count; ++k)
      if (!is_known(i, n.region, m.operand(n, k))) return "an operand is not made before its user, in the same region";
    for (int k = 0; k < n.results.count; ++k)
      if (char const* fault = check_result(i, n, k)) return fault;
    for (int k = 0; k < n.regions.count; ++k)
      if (char const* fault = check_region(i, n, k)) return fault;
    if (char const* fault = check_declared(n)) return fault;
    return verify_node(m, n);
  }
  constexpr char const* check_result(int i, node const& n, int k) const {
    if (m.result(n, k) >= m.value_count) return "a result is not there";
    value const& v = m.result_value(n, k);
    if (v.node != i || v.index != k || v.region != n.region) return "a result belongs to another node";
    return v.type <= dtype::boolean && is_shape(v.dims) ? nullptr : "a result has a dtype or dims that are not there";
  }

  /// Whether node `i` of region `r` may use the value.
  constexpr bool is_known(int i, region_id r, value_id v) const {
    return v < m.value_count && m.values[v].region == r && m.values[v].node < i &&
           m.values[v].index < m.nodes[m.values[v].node].results.count &&
           m.result(m.nodes[m.values[v].node], m.values[v].index) == v;
  }

  constexpr char const* check_region(int i, node const& n, int k) {
    region_id const r = m.region_of(n, k);
    if (r >= m.region_count || owned[r] || m.regions[r].removed)
      return "a node owns a region that is not there, or another's";
    owned[r] = true;
    region const& g = m.regions[r];
    if (g.parent != n.region) return "a region has another parent than its owner has";
    if (g.arguments.first + g.arguments.count > m.link_count || g.results.first + g.results.count > m.link_count)
      return "a region's list reaches beyond the table of links";
    for (int p = 0; p < g.arguments.count; ++p) {
      value_id const v = m.link(g.arguments, p);
      if (!is_known(i, r, v) || m.nodes[m.values[v].node].kind != primitive::argument ||
          place_of(m.nodes[m.values[v].node]) != p)
        return "a region's argument node has the wrong position";
      if (n.kind == primitive::composite && k == 1) continue;  // arguments of a gradient region have no operand
      int const maker = p < n.operands.count ? m.operand_value(n, p).node : 0;
      if (maker > m.values[v].node && m.nodes[maker].kind != primitive::wait)  // a wait comes right before the owner
        return "an argument comes before its operand";
    }
    for (int p = 0; p < g.results.count; ++p)
      if (!is_known(i, r, m.link(g.results, p))) return "a region returns a value of another region";
    return nullptr;
  }

  constexpr char const* check_declared(node const& n) {
    declaration const& d = declared(m, n);
    bool const in_entry = m.regions[n.region].kind == region_kind::entry;
    if (n.function >= d.functions && n.kind != primitive::extension) return "a node has a function that its kind lacks";
    if (d.effect && !n.effect) return "a write, an output or a watch has no effect";
    if (d.entry_only && !in_entry) return "an input, an output, a read or a write is not in an entry";
    if (n.kind == primitive::argument && in_entry) return "an argument stands in an entry";
    if (n.kind == primitive::argument && !is_listed(n)) return "a region does not list an argument, or lists another";
    for (int a = 0; a < max_attributes; ++a)
      if (!exists(d.attributes[a], n.attribute[a], n.attribute[a + 1 < max_attributes ? a + 1 : a]))
        return missing(d.attributes[a].kind);
    return n.kind == primitive::write ? write_once(n) : nullptr;
  }
  constexpr bool is_listed(node const& argument) const {
    list const all = m.regions[argument.region].arguments;
    return place_of(argument) < all.count && all.first + all.count <= m.link_count && argument.results.count == 1 &&
           m.link(all, place_of(argument)) == m.result(argument);
  }
  /// Whether the row that an attribute names exists. `next` is the attribute after it.
  constexpr bool exists(attribute_declaration const& a, id row, id next) const {
    if (a.optional && row == id{no_id}) return true;
    switch (a.kind) {
      case attribute_kind::dim: return row < m.dim_count;
      case attribute_kind::number:
      case attribute_kind::place: return row < m.number_count;
      case attribute_kind::name: return row < m.name_count;
      case attribute_kind::variable: return row < m.variable_count;
      case attribute_kind::path: return row <= m.path_count;
      case attribute_kind::call: return row < m.call_count;
      case attribute_kind::request: return row + next <= m.request_count;
      case attribute_kind::windows: return row + next <= m.window_count;
      case attribute_kind::axes: return row < 1u << max_axes;
      case attribute_kind::flag: return row < 2;
      case attribute_kind::count:
      case attribute_kind::unused: break;
    }
    return true;
  }
  static constexpr char const* missing(attribute_kind kind) {
    switch (kind) {
      case attribute_kind::dim: return "a node has no dim";
      case attribute_kind::number:
      case attribute_kind::place: return "a node has no number";
      case attribute_kind::name: return "a node has no name";
      case attribute_kind::variable: return "a node has no variable";
      case attribute_kind::path: return "a write counts under a path that is not there";
      case attribute_kind::call: return "a node has no function to call";
      case attribute_kind::request: return "a reshard asks for rows that are not there";
      case attribute_kind::windows: return "an operation has windows that are not there";
      default: return "a node has an attribute that is not there";
    }
  }
  constexpr char const* write_once(node const& n) {
    std::uint64_t& entries = written[variable_of(n)][n.region >> 6];
    std::uint64_t const entry = std::uint64_t{1} << (n.region & 63);
    if ((entries & entry) != 0) return "a variable is written twice in one step";
    entries |= entry;
    return nullptr;
  }

  constexpr char const* regions() const {
    for (int r = 0; r < m.region_count; ++r) {
      region const& g = m.regions[r];
      if (g.removed) continue;
      bool const is_entry = g.kind == region_kind::entry;
      if (is_entry != (g.parent == no_id)) return "an entry has a parent, or another region has none";
      if (is_entry && (g.arguments.count != 0 || g.results.count != 0)) return "an entry has arguments or results";
      bool const is_left = g.kind == region_kind::gradient;  // of a composite whose gradient has been taken
      if (is_entry == owned[r] && !is_left) return is_entry ? "an entry has an owner" : "a region has no owner";
    }
    return nullptr;
  }
};

}  // namespace detail

/// The first fault of a module as a sentence of code G40, or nothing. If a pass has left a report, this is returned.
constexpr diagnostic verify(module const& m) { return m.report.empty() ? detail::verifier(m).found : m.report; }

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

// SPDX-License-Identifier: Apache-2.0
// Checks the invariants that every pass relies on: ids, order, regions, and each operation by its own rule.
// before: any module.  after: the same; the first fault found is one sentence.
// why: a pass that breaks something is caught right after it, at the line of the user's node, not three passes later.
#pragma once

#include "meshtensor/graph/locate.hpp"
#include "meshtensor/graph/owner.hpp"
#include "meshtensor/op/rules.hpp"

namespace meshtensor {
namespace detail {

/// The arity of a node: its least and greatest number of operands, results and regions.
struct form_of_node {
  std::uint8_t operands[2], results[2], regions[2];
  constexpr bool fits(node const& n) const {
    return n.operands.count >= operands[0] && n.operands.count <= operands[1] && n.results.count >= results[0] &&
           n.results.count <= results[1] && n.regions.count >= regions[0] && n.regions.count <= regions[1];
  }
};
constexpr form_of_node form_of(primitive p) {
  constexpr std::uint8_t many = 255;
  switch (p) {
    case primitive::nothing:
    case primitive::count_: return {{many, 0}, {}, {}};
    case primitive::write:
    case primitive::output:
    case primitive::watch: return {{1, 1}, {0, 0}, {0, 0}};
    case primitive::input:
    case primitive::read:
    case primitive::argument:
    case primitive::iteration:
    case primitive::constant:
    case primitive::iota:
    case primitive::random: return {{0, 0}, {1, 1}, {0, 0}};
    case primitive::elementwise: return {{1, 3}, {1, 1}, {0, 0}};
    case primitive::einsum: return {{1, many}, {1, 1}, {0, 0}};
    case primitive::put: return {{2, 3}, {1, 1}, {0, 0}};
    case primitive::concat:
    case primitive::wait:
    case primitive::gather:
    case primitive::scatter_add: return {{2, 2}, {1, 1}, {0, 0}};
    case primitive::gradient: return {{1, many}, {0, many}, {0, 0}};
    case primitive::repeat: return {{0, many}, {0, many}, {1, 1}};
    case primitive::while_loop: return {{0, many}, {1, many}, {2, 2}};
    case primitive::cond: return {{1, many}, {0, many}, {2, 2}};
    case primitive::call: return {{1, 4}, {1, 1}, {0, 0}};
    case primitive::composite: return {{0, many}, {0, many}, {1, 2}};
    case primitive::kernel: return {{0, many}, {0, many}, {1, 1}};
    default: return {{1, 1}, {1, 1}, {0, 0}};
  }
}
/// The arity of every kind, looked up without a branch.
struct forms_of_nodes {
  form_of_node of[static_cast<int>(primitive::count_)];
};
inline constexpr forms_of_nodes forms = [] {
  forms_of_nodes all{};
  for (int p = 0; p < static_cast<int>(primitive::count_); ++p) all.of[p] = form_of(static_cast<primitive>(p));
  return all;
}();

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
      if (d.kind > dim_row::dynamic && (d.first >= i || (d.kind != dim_row::shifted && d.second >= i)))
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
                         : n.kind >= number_row::updates  ? n.first < m.path_count || n.first == no_id
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
    if (n.kind >= primitive::count_ || !forms.of[static_cast<int>(n.kind)].fits(n))
      return "a node has another number of operands, results or regions than its kind";
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
    if (char const* fault = check_kind(n)) return fault;
    return verify_node(m, n);
  }
  constexpr char const* check_result(int i, node const& n, int k) const {
    if (m.result(n, k) >= m.value_count) return "a result is not there";
    value const& v = m.result_value(n, k);
    if (v.node != i || v.index != k || v.region != n.region) return "a result belongs to another node";
    return v.type <= dtype::boolean && is_shape(v.dims) ? nullptr : "a result has a dtype or dims that are not there";
  }

  /// Whether node `i` of region `r` may use the value.
  constexpr bool is_known(int i, id r, id v) const {
    return v < m.value_count && m.values[v].region == r && m.values[v].node < i &&
           m.values[v].index < m.nodes[m.values[v].node].results.count &&
           m.result(m.nodes[m.values[v].node], m.values[v].index) == v;
  }

  constexpr char const* check_region(int i, node const& n, int k) {
    id const r = m.region_of(n, k);
    if (r >= m.region_count || owned[r] || m.regions[r].removed)
      return "a node owns a region that is not there, or another's";
    owned[r] = true;
    region const& g = m.regions[r];
    if (g.parent != n.region) return "a region has another parent than its owner has";
    if (g.arguments.first + g.arguments.count > m.link_count || g.results.first + g.results.count > m.link_count)
      return "a region's list reaches beyond the table of links";
    for (int p = 0; p < g.arguments.count; ++p) {
      id const v = m.link(g.arguments, p);
      if (!is_known(i, r, v) || m.nodes[m.values[v].node].kind != primitive::argument ||
          m.nodes[m.values[v].node].attribute[0] != p)
        return "a region's argument node has the wrong position";
      if (n.kind == primitive::composite && k == 1) continue;  // arguments of a gradient region have no operand
      int const operand = operand_of_argument(n, k, p);
      int const maker = operand < n.operands.count ? m.operand_value(n, operand).node : 0;
      if (maker > m.values[v].node && m.nodes[maker].kind != primitive::wait)  // a wait comes right before the owner
        return "an argument comes before its operand";
    }
    for (int p = 0; p < g.results.count; ++p)
      if (!is_known(i, r, m.link(g.results, p))) return "a region returns a value of another region";
    if ((n.kind == primitive::cond || n.kind == primitive::while_loop) && !takes(n, k, g))
      return "the arguments of a branch or loop differ from its operands";
    return nullptr;
  }
  /// Whether the arguments of a region of a loop or branch have the dims and dtypes of their operands.
  constexpr bool takes(node const& n, int k, region const& g) const {
    int const first = n.kind == primitive::cond ? n.attribute[0] : n.attribute[1] + n.attribute[2];
    int const second =
        n.operands.count - n.attribute[n.kind == primitive::cond ? 0 : 2] - (n.kind == primitive::cond ? 1 : 0);
    if (g.arguments.count != (k == 0 ? first : second)) return false;
    for (int p = 0; p < g.arguments.count; ++p) {
      if (!alike(m, m.operand(n, operand_of_argument(n, k, p)), m.link(g.arguments, p))) return false;
    }
    return true;
  }

  constexpr char const* check_kind(node const& n) {
    bool const in_entry = m.regions[n.region].kind == region_kind::entry;
    switch (n.kind) {
      case primitive::input:
      case primitive::output:
        if (!in_entry || n.attribute[0] >= m.name_count) return "an input or output has no name, or is not in an entry";
        if (n.kind == primitive::output && !n.effect) return "an output has no effect";
        return nullptr;
      case primitive::watch:
        return n.effect && n.attribute[0] < m.name_count ? nullptr : "a watch has no name or no effect";
      case primitive::read:
        return in_entry && n.attribute[0] < m.variable_count ? nullptr
                                                             : "a read has no variable, or is not in an entry";
      case primitive::write: {
        if (!in_entry || n.attribute[0] >= m.variable_count) return "a write has no variable, or is not in an entry";
        if (!n.effect) return "a write has no effect";
        if (counted_under(n) != no_id && counted_under(n) >= m.path_count)
          return "a write counts under a path that is not there";
        if (m.operand_value(n, 0).type != m.variables[n.attribute[0]].type)
          return "a write has another dtype than its variable";
        std::uint64_t& entries = written[n.attribute[0]][n.region >> 6];
        std::uint64_t const entry = std::uint64_t{1} << (n.region & 63);
        if ((entries & entry) != 0) return "a variable is written twice in one step";
        entries |= entry;
        return nullptr;
      }
      case primitive::argument: return in_entry ? "an argument stands in an entry" : nullptr;
      case primitive::reduce: return n.function >= 1 && n.function <= 3 ? nullptr : "a reduction of an unknown kind";
      case primitive::elementwise:
        return n.function < static_cast<std::uint8_t>(function::count_) ? nullptr : "an unknown function";
      case primitive::slice: return n.attribute[2] < m.number_count ? nullptr : "a slice has no first index";
      case primitive::put:
        return n.operands.count == 3 || n.attribute[1] < m.number_count ? nullptr : "a put has no position";
      case primitive::pad:
        return n.attribute[2] < m.number_count && n.attribute[3] < m.number_count ? nullptr
                                                                                  : "a pad has no first index or value";
      case primitive::repeat: {
        loop const l = loop::of(n);
        if (l.dim >= m.dim_count) return "a loop has no dim";
        return l.carries + l.stacked <= n.operands.count && l.carries + l.sums <= n.results.count
                   ? nullptr
                   : "a loop has fewer operands or results than it counts";
      }
      case primitive::while_loop:
        return n.attribute[0] < m.number_count && n.attribute[1] + n.attribute[2] <= n.operands.count
                   ? nullptr
                   : "a while loop has no limit, or fewer operands than it counts";
      case primitive::cond:
        return n.attribute[0] < n.operands.count ? nullptr : "a branch has fewer operands than it counts";
      default: return nullptr;
    }
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

/// The first fault of a module as a sentence of code G40, or nothing. If a pass has left a report, returns that.
constexpr diagnostic verify(module const& m) { return m.report.empty() ? detail::verifier(m).found : m.report; }

}  // namespace meshtensor

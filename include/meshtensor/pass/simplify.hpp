// SPDX-License-Identifier: Apache-2.0
// Merges equal nodes, removes identities, and prunes dead code.
// before: differentiated, not partitioned.  after: no two nodes of one path and region compute the same value.
// why: differentiation does not look for existing nodes, and every later pass costs time for each node.
//
// Every result stays the same bit for bit. Therefore x + 0 stays, because it turns -0 into 0, and x * 0 stays, because
// it may be NaN.
#pragma once

#include <bit>

#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/prune.hpp"

namespace meshtensor {
namespace detail {

/// Rewrites operands and results of a module in place. Dead nodes stay until the module is pruned.
struct simplification {
  static constexpr unsigned buckets = std::bit_ceil(2u * max_nodes);
  meshtensor::module& m;
  id same[max_values];     // the value that replaces a value, plus 1, or 0 if nothing replaces it
  id owner[max_regions];   // the node that owns a region, plus 1
  id stacked[max_values];  // of a value in a loop's body: the loop's stacked result of it, plus 1
  id table[buckets];       // nodes by hash, plus 1
  bool differentiates;     // whether a gradient is still to be taken: then stop_gradient is not an identity

  constexpr explicit simplification(module& target)
      : m(target), same{}, owner{}, stacked{}, table{}, differentiates(false) {
    for (int i = 0; i < m.node_count; ++i) {
      if (m.nodes[i].kind == primitive::gradient) differentiates = true;
      for (int k = 0; k < m.nodes[i].regions.count; ++k) owner[m.region_of(m.nodes[i], k)] = static_cast<id>(i + 1);
    }
    for (int i = 0; i < m.node_count; ++i) step(i);
  }

  // ---- for the rules of operations ----

  constexpr node const& maker(value_id v) const { return m.nodes[m.values[v].node]; }
  constexpr bool made_by(value_id v, primitive kind) const { return maker(v).kind == kind; }
  constexpr bool made_by(value_id v, function f) const { return applies(maker(v), f); }
  /// Whether a value is this literal everywhere. The sign of a zero counts, too.
  constexpr bool is_literal(value_id v, number_value const& number) const {
    number_value const* const known = literal_of(m, v);
    return known != nullptr && known->is_same(number);
  }

  constexpr bool alike(value_id a, value_id b) const {
    value const &x = m.values[a], &y = m.values[b];
    return x.type == y.type && x.dims == y.dims && x.layout == y.layout;
  }
  /// Operand 0 if the node returns a value of the same dtype, dims and placement, or no_id if not.
  constexpr value_id operand_if_alike(node const& n) const {
    return alike(m.operand(n, 0), m.result(n)) ? m.operand(n, 0) : no_id;
  }

 private:
  constexpr value_id seen(value_id v) const { return same[v] == 0 ? v : static_cast<value_id>(same[v] - 1); }
  constexpr void forward(list l) {
    for (int i = 0; i < l.count; ++i) m.links[l.first + i] = seen(m.link(l, i));
  }
  constexpr void stand_in(value_id v, value_id other) { same[v] = static_cast<id>(other + 1); }

  constexpr void step(int i) {
    node& n = m.nodes[i];
    forward(n.operands);
    if (n.regions.count != 0) return close(n);
    if (n.results.count != 1 || n.effect || n.kind == primitive::input) return;
    auto& self = *this;  // nvcc does not take `*this` in a requirement
    value_id const v = with_rule(n.kind, [&]<class R>() -> value_id {
      if constexpr (requires { R::simplify(self, n); }) return R::simplify(self, n);
      else return no_id;
    });
    if (v != no_id) return stand_in(m.result(n), v);
    if (n.kind == primitive::argument && !may_merge(n)) return;
    merge(i);
  }

  // ---- equal nodes ----

  // Whether arguments may merge. Carries may not, because they differ between iterations. Arguments of composites may
  // not, because a composite keeps its signature.
  constexpr bool may_merge(node const& argument) const {
    if (owner[argument.region] == 0) return false;
    node const& o = m.nodes[owner[argument.region] - 1];
    return o.kind == primitive::repeat && place_of(argument) >= loop::of(o).carries;
  }
  // An argument's operand and whether it is stacked, as one number. Arguments with the same number are equal.
  constexpr unsigned meaning(node const& argument) const {
    node const& o = m.nodes[owner[argument.region] - 1];
    int const place = place_of(argument);
    bool const is_stacked = o.kind == primitive::repeat && place < loop::of(o).carries + loop::of(o).stacked;
    return 2u * seen(m.operand(o, place)) + (is_stacked ? 1u : 0u);
  }

  // Whether nodes of different paths must stay apart. A layout may treat paths differently, unless a node has no dims.
  // Random numbers depend on the path.
  constexpr bool path_matters(node const& n) const {
    if (declared(m, n).fusion == fusion_role::random || m.result_value(n).dims.count != 0) return true;
    for (int i = 0; i < n.operands.count; ++i)
      if (m.operand_value(n, i).dims.count != 0) return true;
    return false;
  }

  static constexpr std::uint32_t combined(std::uint32_t hash, std::uint32_t word) {
    hash = (hash ^ word) * 0x9e3779b1u;
    return hash ^ hash >> 15;
  }
  constexpr std::uint32_t hash_of(node const& n) const {
    std::uint32_t h = combined(static_cast<std::uint32_t>(n.kind) * 256u + n.function, n.region);
    if (n.kind == primitive::argument) return combined(h, meaning(n));
    h = combined(combined(h, n.attribute[0] * 65536u + n.attribute[1]), n.attribute[2] * 65536u + n.attribute[3]);
    static_assert(max_attributes == 5);
    h = combined(h, n.attribute[4]);
    for (int i = 0; i < n.operands.count; ++i) h = combined(h, m.operand(n, i));
    return h;
  }
  constexpr bool equal(node const& a, node const& b) const {
    if (a.kind != b.kind || a.function != b.function || a.region != b.region) return false;
    if (a.kind == primitive::argument) return meaning(a) == meaning(b);
    if (a.copy != b.copy || a.ordinal != b.ordinal || a.operands.count != b.operands.count) return false;
    for (int i = 0; i < max_attributes; ++i)
      if (a.attribute[i] != b.attribute[i]) return false;
    for (int i = 0; i < a.operands.count; ++i)
      if (m.operand(a, i) != m.operand(b, i)) return false;
    return alike(m.result(a), m.result(b)) && (a.path == b.path || !path_matters(a));
  }
  constexpr void merge(int i) {
    node const& n = m.nodes[i];
    unsigned at = hash_of(n) & (buckets - 1);
    for (; table[at] != 0; at = (at + 1) & (buckets - 1))
      if (equal(m.nodes[table[at] - 1], n)) return stand_in(m.result(n), m.result(m.nodes[table[at] - 1]));
    table[at] = static_cast<id>(i + 1);
  }

  // Completes a region: forwards its results, and merges stacked outputs of a loop that are equal.
  constexpr void close(node const& n) {
    for (int k = 0; k < n.regions.count; ++k) forward(m.regions[m.region_of(n, k)].results);
    if (n.kind != primitive::repeat) return;
    loop const l = loop::of(n);
    for (int i = l.carries + l.sums; i < n.results.count; ++i) {
      value_id const given = m.link(m.regions[m.region_of(n, 0)].results, i);
      if (stacked[given] == 0) stacked[given] = static_cast<id>(m.result(n, i) + 1);
      else same[m.result(n, i)] = stacked[given];
    }
  }
};

}  // namespace detail

/// Computes the same results, bit for bit, with fewer nodes.
constexpr module simplify(module const& m) {
  if (!m.report.empty()) return m;
  meshtensor::module reduced = m;
  detail::simplification{reduced};
  return prune(reduced);
}

}  // namespace meshtensor

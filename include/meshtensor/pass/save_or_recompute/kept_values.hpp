// SPDX-License-Identifier: Apache-2.0
// Chooses which values of a loop are saved for a later loop and which are recomputed there, by a minimum cut.
//
// The weight of a value depends only on its dtype and number of dims, because the structure must not depend on extents.
#pragma once

#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/save_or_recompute/min_cut.hpp"

namespace meshtensor::detail {

/// The origin of values of loops, and the choice of the values that are saved.
struct kept_values {
  meshtensor::module const& m;
  id owner[max_regions];        // of a region: the node that owns it, plus 1
  id body_result[max_values];   // of a value inside a composite: the composite's result for it in a loop's body, plus 1
  bool leaves[max_values];      // whether a loop's result has uses other than as a later loop's stacked operand
  bool read_later[max_values];  // whether a later loop reads it
  bool kept[max_values];
  value_id waiting[max_values];

  constexpr explicit kept_values(module const& source)
      : m(source), owner{}, body_result{}, leaves{}, read_later{}, kept{}, waiting{} {
    for (int i = 0; i < m.node_count; ++i)
      for (int k = 0; k < m.nodes[i].regions.count; ++k) owner[m.region_of(m.nodes[i], k)] = static_cast<id>(i + 1);
    bool is_read_later[max_nodes] = {};  // the loops whose values later loops read
    for (int i = 0; i < m.node_count; ++i) {
      node const& n = m.nodes[i];
      find_uses(n);
      if (n.kind == primitive::composite && is_body_of_loop(m.regions[n.region]))
        for (int k = 0; k < n.results.count; ++k)
          body_result[canonical(m.result(n, k))] = static_cast<id>(m.result(n, k) + 1);
      if (n.kind != primitive::argument || !holds_earlier_value(m.result(n))) continue;
      value_id const v = origin(m.result(n));
      read_later[canonical(v)] = is_read_later[owner[m.values[v].region] - 1] = true;
    }
    for (int i = 0; i < m.node_count; ++i)
      if (is_read_later[i]) choose(static_cast<node_id>(i));
  }

  /// The value of an earlier loop's body of which a stacked argument holds one iteration. For any other value, the
  /// value itself.
  constexpr value_id origin(value_id v) const {
    node const& a = maker(v);
    if (a.kind != primitive::argument || !is_stacked(a)) return v;
    value_id const given = origin(m.operand(owner_of(a), place_of(a)));
    node const& l = maker(given);
    if (l.kind != primitive::repeat || m.values[given].index < loop::of(l).carries + loop::of(l).sums) return v;
    return m.link(m.regions[m.region_of(l, 0)].results, m.values[given].index);
  }
  constexpr bool holds_earlier_value(value_id v) const { return origin(v) != v; }

  /// The value where it is computed. This looks through composites: into their bodies for results, and out to their
  /// operands for arguments.
  constexpr value_id canonical(value_id v) const {
    for (;;) {
      node const& n = maker(v);
      if (n.kind == primitive::composite) v = m.link(m.regions[m.region_of(n, 0)].results, m.values[v].index);
      else if (n.kind == primitive::argument && is_in_body_of_composite(n)) v = m.operand(owner_of(n), place_of(n));
      else return v;
    }
  }
  /// The value as the loop's body names it, or no_id if it exists only inside a composite.
  constexpr value_id in_body(value_id v) const {
    return is_body_of_loop(m.regions[m.values[v].region]) ? v : static_cast<value_id>(body_result[v] - 1);
  }

  constexpr node const& maker(value_id v) const { return m.nodes[m.values[v].node]; }
  constexpr node const& owner_of(node const& n) const { return m.nodes[owner[n.region] - 1]; }

 private:
  constexpr bool is_stacked(node const& argument) const {
    if (owner[argument.region] == 0 || owner_of(argument).kind != primitive::repeat) return false;
    loop const how = loop::of(owner_of(argument));
    int const place = place_of(argument);
    return place >= how.carries && place < how.carries + how.stacked;
  }
  // The body of a composite counts, but its gradient region does not, because a gradient that was taken is the body of
  // another composite.
  constexpr bool is_in_body_of_composite(node const& n) const {
    return owner[n.region] != 0 && owner_of(n).kind == primitive::composite && n.region == m.region_of(owner_of(n), 0);
  }
  constexpr void find_uses(node const& n) {
    loop const how = n.kind == primitive::repeat ? loop::of(n) : loop{};
    for (int k = 0; k < n.operands.count; ++k)
      if (k < how.carries || k >= how.carries + how.stacked) leaves[m.operand(n, k)] = true;
    for (int k = 0; k < n.regions.count; ++k) {
      list const given = m.regions[m.region_of(n, k)].results;
      for (int i = 0; i < given.count; ++i)
        if (n.kind != primitive::repeat || i < how.carries + how.sums) leaves[m.link(given, i)] = true;
    }
  }

  // Chooses the values of loop `l` that are saved. The edge of a value, from vertex `in` to `in + 1`, has the cost of
  // saving the value. Edges of its operands lead to `in`.
  constexpr void choose(node_id l) {
    flow_network flow{};
    id at[max_values] = {};  // `in` of a value
    int count = 0, source = flow.add_vertex(), sink = flow.add_vertex();
    auto const visit = [&](value_id v) {
      if (at[v] == 0) {
        at[v] = static_cast<id>(flow.add_vertex());
        flow.add_edge(at[v], flow.add_vertex(), cost(v, l));
        waiting[count++] = v;
      }
      return at[v];
    };
    list const results = m.regions[m.region_of(m.nodes[l], 0)].results;
    loop const how = loop::of(m.nodes[l]);
    for (int i = how.carries + how.sums; i < results.count; ++i)
      if (value_id const v = canonical(m.link(results, i)); read_later[v])
        flow.add_edge(visit(v) + 1, sink, flow_network::unlimited);
    for (int i = 0; i < count; ++i) {
      node const& n = maker(waiting[i]);
      int const in = at[waiting[i]];
      if (may_be_made_again(n))
        for (int k = 0; k < n.operands.count; ++k)
          flow.add_edge(visit(canonical(m.operand(n, k))) + 1, in, flow_network::unlimited);
      else if (!is_at_hand(n, how)) flow.add_edge(source, in, flow_network::unlimited);
    }
    if (!flow.full) flow.fill(source, sink);
    for (int i = 0; i < count; ++i)
      kept[waiting[i]] = flow.full ? read_later[waiting[i]]
                                   : !flow.is_before_sink(at[waiting[i]]) && flow.is_before_sink(at[waiting[i]] + 1);
  }

  // Whether a node may be recomputed. Arithmetic may. In a checkpointed layer, so may any node without regions that has
  // one result. Products in a composite are an exception, because a device may run the composite without ever storing
  // their results.
  constexpr bool may_be_made_again(node const& n) const {
    if (is_arithmetic(n.kind)) return true;
    if (n.copy == 0 || n.results.count != 1 || n.regions.count != 0) return false;
    if (declared(m, n).work == work_kind::product) return !is_in_composite(m, n);
    return is_computed(n.kind);
  }

  // Whether later loops can read the value without saving it. This holds for a loop's operands from outside. However, a
  // slice of a value that an enclosing loop computes must be saved like any value of that size.
  constexpr bool is_at_hand(node const& n, loop const& how) const {
    if (n.kind != primitive::argument || place_of(n) < how.carries) return false;
    if (place_of(n) >= how.carries + how.stacked) return true;
    node const& outer = maker(m.operand(owner_of(n), place_of(n)));
    if (!is_body_of_loop(m.regions[outer.region])) return true;
    return outer.kind == primitive::argument && is_at_hand(outer, loop::of(owner_of(outer)));
  }

  constexpr std::int64_t cost(value_id v, node_id l) const {
    value_id const called = in_body(v);
    if (called == no_id) return flow_network::unlimited;
    list const results = m.regions[m.region_of(m.nodes[l], 0)].results;
    loop const how = loop::of(m.nodes[l]);
    for (int i = how.carries + how.sums; i < results.count; ++i)
      if (canonical(m.link(results, i)) == v && leaves[m.result(m.nodes[l], i)]) return 0;
    shape const& dims = m.values[v].dims;
    if (dims.has(how.dim)) return flow_network::unlimited;
    return static_cast<std::int64_t>(bytes_of(m.values[v].type)) << 5 * dims.count;
  }
};

}  // namespace meshtensor::detail

// SPDX-License-Identifier: Apache-2.0
// Finds the dims that `each` hides in every value: those of the indices by which the value differs.
#pragma once

#include "meshtensor/op/rules.hpp"

namespace meshtensor {
namespace detail {

/// The dims of the eaches of a module, and for each value those along which it differs from index to index.
///
/// Each index has a copy of its own of a tensor by which it takes a gradient, and what leads from there to the loss is
/// computed from this copy. Therefore a tensor that is the same for all indices may have two versions: one that is
/// computed from such copies, and one without them, which updates of variables and carries of loops take.
struct hidden_dims {
  static constexpr int most = 16;
  meshtensor::module const& m;
  id_list<most, dim_id> dims;
  std::uint16_t of[max_values];              // by value: one bit for each of `dims`
  std::uint16_t without_copies[max_values];  // the same for its version that is computed without copies of indices
  bool leads_to_loss[max_values];            // by value: a gradient flows from the loss to it
  id owner[max_regions];                     // by region: the node that owns it, plus 1

  constexpr explicit hidden_dims(meshtensor::module const& from)
      : m(from), dims{}, of{}, without_copies{}, leads_to_loss{}, owner{} {
    for (int i = 0; i < m.node_count; ++i) {
      node const& n = m.nodes[i];
      if (n.kind == primitive::hide || n.kind == primitive::show) add(n);
      for (int k = 0; k < n.regions.count; ++k) owner[m.region_of(n, k)] = static_cast<id>(i + 1);
    }
    if (dims.count == 0 || dims.count > most) return;
    find_leads();
    spread();
  }

  /// The dims of a value with those that are hidden in it, which lead.
  constexpr shape wide(value_id v) const { return wide(of[v], m.values[v].dims); }
  constexpr shape wide(unsigned hidden, shape const& own) const {
    shape all{};
    for (int k = 0; k < dims.count; ++k)
      if ((hidden >> k & 1) != 0) all.add(dims.at[k]);
    for (int k = 0; k < own.count; ++k) all.add(own.at[k]);
    return all;
  }
  /// The dims by which the number of iterations of a loop that may end early differs, as bits. Those of the decisions
  /// around it are among them, because an index takes part only if it runs the bodies around the loop, too.
  constexpr unsigned of_decision(node const& n) const {
    if (n.kind != primitive::repeat || !loop::of(n).ends_early) return 0;
    unsigned const own = without_copies[m.link(m.regions[m.region_of(n, 0)].arguments, 0)];
    return own == 0 ? 0 : own | around(n.region);
  }
  /// The dims of the decisions around the nodes of a region, as bits: not all indices along them run it.
  constexpr unsigned around(region_id r) const {
    for (; owner[r] != 0; r = m.regions[r].parent)
      if (unsigned const decision = of_decision(m.nodes[owner[r] - 1]); decision != 0) return decision;
    return 0;
  }
  /// Whether an index that takes no part gets another one's slice from a `hide` node in the body of a decision. Then
  /// the slice differs by all dims of the decision. If the slice shows one of them, a later `hide` of this dim does so.
  constexpr bool is_replaced(node const& n) const {
    if (n.kind != primitive::hide) return false;
    view_attributes const a = view_attributes::of(n);
    unsigned const decision = a.own_copy ? 0 : around(n.region);
    if (decision == 0 || (decision & bit(a.dim)) == 0 || !m.operand_value(n, 0).dims.has(a.dim)) return false;
    shape const shown = m.result_value(n).dims;
    for (int k = 0; k < dims.count; ++k)
      if ((decision >> k & 1) != 0 && shown.has(dims.at[k])) return false;
    return true;
  }
  /// The dims of these bits.
  constexpr shape dims_of(unsigned bits) const { return wide(bits, shape{}); }
  /// A dim that is hidden in a value and that the value shows, too, or no_id.
  constexpr dim_id hidden_and_shown(value_id v) const {
    for (int k = 0; k < dims.count; ++k)
      if ((of[v] >> k & 1) != 0 && m.values[v].dims.has(dims.at[k])) return dims.at[k];
    return no_id;
  }
  /// The first of the dims of these bits. There must be one.
  constexpr dim_id first(unsigned bits) const {
    int k = 0;
    while ((bits >> k & 1) == 0) ++k;
    return dims.at[k];
  }

  /// Whether a region is one of a node's, or in one of them.
  constexpr bool is_in(region_id r, node const& n) const {
    for (; r != no_id; r = m.regions[r].parent)
      for (int k = 0; k < n.regions.count; ++k)
        if (m.region_of(n, k) == r) return true;
    return false;
  }
  /// Whether a node takes the versions of its operands that are computed from copies of indices. It does so if a
  /// gradient needs them, or if its result has the same dims anyway.
  constexpr bool reads_copies(node const& n) const {
    if (n.kind == primitive::write || n.kind == primitive::output) return false;
    if (n.regions.count != 0) return leads(n);
    if (n.kind == primitive::gradient || n.results.count == 0 || leads(n)) return true;
    return of_operands(n, of) == of_operands(n, without_copies);
  }
  /// The dims by which result `k` of a node differs because of what the node computes, as bits. The result may differ
  /// by more dims, because it is a tensor by which an index takes a gradient.
  constexpr unsigned of_computed(node const& n, int k) const {
    if (n.kind == primitive::gradient) return of[m.operand(n, k + 1)];
    unsigned const all = of_operands(n, leads(n) ? of : without_copies);
    if (n.regions.count == 0) return all;
    region const& body = m.regions[m.region_of(n, 0)];
    if (n.regions.count == 2) return all | of_results(body);  // its gradient takes cotangents of each index
    bool const carried = n.kind == primitive::repeat && k < loop::of(n).carries;
    return without_copies[m.link(carried ? body.arguments : body.results, k)] | of_decision(n);
  }

 private:
  constexpr void add(node const& n) {
    dim_id const dim = view_attributes::of(n).dim;
    for (int k = 0; k < dims.count; ++k)
      if (dims.at[k] == dim) return;
    dims.add(dim);
  }
  constexpr std::uint16_t bit(dim_id dim) const {
    int k = 0;
    while (dims.at[k] != dim) ++k;
    return static_cast<std::uint16_t>(1u << k);
  }

  constexpr bool leads(node const& n) const {
    for (int k = 0; k < n.results.count; ++k)
      if (leads_to_loss[m.result(n, k)]) return true;
    return false;
  }
  // An owner of regions stands behind their nodes. No gradient flows to integers and conditions, or through
  // stop_gradient. So what only a condition is computed from is not copied for each index, and the condition stays the
  // same for all.
  constexpr void find_leads() {
    auto const lead = [this](list const& values) {
      for (int k = 0; k < values.count; ++k) {
        value_id const v = m.link(values, k);
        node const& maker = m.nodes[m.values[v].node];
        bool const ends = maker.kind == primitive::elementwise &&
                          maker.function == static_cast<std::uint8_t>(function::stop_gradient);
        if (is_float(m.values[v].type) && !ends) leads_to_loss[v] = true;
      }
    };
    for (int i = m.node_count - 1; i >= 0; --i) {
      node const& n = m.nodes[i];
      if (n.kind != primitive::gradient && !leads(n)) continue;
      lead(n.operands);
      for (int r = 0; r < n.regions.count; ++r) lead(m.regions[m.region_of(n, r)].results);
    }
  }

  constexpr unsigned of_results(region const& body) const {
    unsigned all = 0;
    for (int i = 0; i < body.results.count; ++i) all |= without_copies[m.link(body.results, i)];
    return all;
  }
  // `version` is one of the two arrays.
  constexpr unsigned of_operands(node const& n, std::uint16_t const* version) const {
    unsigned all = 0;
    for (int k = 0; k < n.operands.count; ++k) all |= version[m.operand(n, k)];
    if (n.kind == primitive::show) return all & ~unsigned{bit(view_attributes::of(n).dim)};
    if (n.kind != primitive::hide) return all;
    view_attributes const a = view_attributes::of(n);
    if (is_replaced(n)) all |= around(n.region);
    return a.own_copy || m.operand_value(n, 0).dims.has(a.dim) ? all | bit(a.dim) : all;
  }
  // The joins below take a value, its further dims, and whether only the version from copies has them.
  constexpr void into_gradient(node const& n, auto const& join) const {
    for (int k = 1; k < n.operands.count; ++k) join(m.operand(n, k), of[m.operand(n, 0)], true);
  }
  constexpr void around_loop(node const& n, auto const& join) const {
    loop const l = loop::of(n);
    region const& body = m.regions[m.region_of(n, 0)];
    unsigned const decision = of_decision(n);
    for (int k = 0; k < n.operands.count; ++k) {
      value_id const argument = m.link(body.arguments, k);
      join(argument, of_operand(n, k), false);
      if ((without_copies[argument] & decision) != 0) join(argument, decision, false);
      if ((of[argument] & decision) != 0) join(argument, decision, true);
    }
    for (int k = 0; k < l.carries; ++k)
      join(m.link(body.arguments, k), without_copies[m.link(body.results, k)] | decision, false);
  }
  constexpr void into_composite(node const& n, auto const& join) const {
    region const& body = m.regions[m.region_of(n, 0)];
    for (int k = 0; k < n.operands.count; ++k) join(m.link(body.arguments, k), of_operand(n, k), false);
    if (n.regions.count == 1) return;
    list const taken = m.regions[m.region_of(n, 1)].arguments;
    for (int k = 0; k < taken.count; ++k) {
      bool const is_operand = k < n.operands.count;
      join(m.link(taken, k), is_operand ? of_operand(n, k) : of_computed(n, (k - n.operands.count) % n.results.count),
           false);
    }
  }
  // Of the version that an owner of regions takes.
  constexpr unsigned of_operand(node const& n, int k) const {
    return (leads(n) ? of : without_copies)[m.operand(n, k)];
  }
  // Of a result without copies of indices. `hide` of a tensor with the dim has no second version, because it may choose
  // the slice of another index.
  constexpr unsigned of_second(node const& n, int k) const {
    if (n.regions.count != 0) return has_plain_copy(n) ? 0 : of_computed(n, k);
    bool const has_one = n.kind == primitive::gradient ||
                         (n.kind == primitive::hide && m.operand_value(n, 0).dims.has(view_attributes::of(n).dim));
    return has_one ? of_computed(n, k) : of_operands(n, without_copies);
  }
  // Whether a loop or composite, from which a loss is computed, can be copied as it is for the tensors that all indices
  // share: nothing in it is about indices.
  constexpr bool has_plain_copy(node const& n) const {
    if (!leads(n) || of_operands(n, of) == 0 || of_operands(n, without_copies) != 0) return false;
    for (node const* inner = m.nodes; inner != &n; ++inner) {
      bool const is_of_indices = inner->kind == primitive::hide || inner->kind == primitive::show ||
                                 inner->kind == primitive::gradient || inner->kind == primitive::watch || inner->effect;
      if (is_of_indices && is_in(inner->region, n)) return false;
    }
    return true;
  }

  // What differs spreads from operands to results, and around loops until nothing changes. It stands last, because
  // clang evaluates member templates only behind their definitions.
  constexpr void spread() {
    for (bool changed = true; changed;) {
      changed = false;
      auto const add_to = [&](std::uint16_t& bits, unsigned more) {
        if ((bits | more) == bits) return;
        bits = static_cast<std::uint16_t>(bits | more), changed = true;
      };
      auto const join = [&](value_id v, unsigned more, bool by_copies) {
        add_to(of[v], more);
        if (!by_copies) add_to(without_copies[v], more);
      };
      for (int i = 0; i < m.node_count; ++i) {
        node const& n = m.nodes[i];
        if (n.kind == primitive::repeat) around_loop(n, join);
        else if (n.kind == primitive::composite) into_composite(n, join);
        else if (n.kind == primitive::gradient) into_gradient(n, join);
        for (int k = 0; k < n.results.count; ++k) {
          join(m.result(n, k), of_second(n, k), false);
          join(m.result(n, k), of_computed(n, k), true);
        }
      }
    }
  }
};

}  // namespace detail
}  // namespace meshtensor

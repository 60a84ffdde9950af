// SPDX-License-Identifier: Apache-2.0
// Finds the dims that `each` hides in every value: those of the indices by which the value differs.
#pragma once

#include "meshtensor/op/rules.hpp"

namespace meshtensor {
namespace detail {

/// The dims of the eaches of a module, and for each value those along which it differs from index to index.
struct hidden_dims {
  static constexpr int most = 16;
  meshtensor::module const& m;
  id_list<most, dim_id> dims;
  std::uint16_t of[max_values];  // by value: one bit for each of `dims`

  constexpr explicit hidden_dims(meshtensor::module const& from) : m(from), dims{}, of{} {
    for (int i = 0; i < m.node_count; ++i)
      if (node const& n = m.nodes[i]; n.kind == primitive::hide || n.kind == primitive::show) add(n);
    if (dims.count != 0 && dims.count <= most) spread();
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
  /// The dims by which the number of iterations of a loop that may end early differs, as bits.
  constexpr unsigned of_decision(node const& n) const {
    if (n.kind != primitive::repeat || !loop::of(n).ends_early) return 0;
    return of[m.link(m.regions[m.region_of(n, 0)].arguments, 0)];
  }
  /// The dims of these bits.
  constexpr shape dims_of(unsigned bits) const { return wide(bits, shape{}); }
  /// A dim that is hidden in a value and that the value shows, too, or no_id.
  constexpr dim_id hidden_and_shown(value_id v) const {
    for (int k = 0; k < dims.count; ++k)
      if ((of[v] >> k & 1) != 0 && m.values[v].dims.has(dims.at[k])) return dims.at[k];
    return no_id;
  }
  /// The first dim that is hidden in a value. The value must have one.
  constexpr dim_id first(value_id v) const {
    int k = 0;
    while ((of[v] >> k & 1) == 0) ++k;
    return dims.at[k];
  }

  /// The dims by which result `k` of a node differs because of what the node computes, as bits. The result may differ
  /// by more dims, because it is a tensor by which an index takes a gradient.
  constexpr unsigned of_computed(node const& n, int k) const {
    if (n.kind == primitive::gradient) return of[m.operand(n, k + 1)];
    if (n.regions.count == 0) return of_operands(n);
    region const& body = m.regions[m.region_of(n, 0)];
    if (n.regions.count == 2) {  // its gradient takes a cotangent of each index for every result
      unsigned all = of_operands(n);
      for (int i = 0; i < body.results.count; ++i) all |= of[m.link(body.results, i)];
      return all;
    }
    bool const carried = n.kind == primitive::repeat && k < loop::of(n).carries;
    return of[m.link(carried ? body.arguments : body.results, k)] | of_decision(n);
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

  constexpr unsigned of_operands(node const& n) const {
    unsigned all = 0;
    for (int k = 0; k < n.operands.count; ++k) all |= of[m.operand(n, k)];
    if (n.kind == primitive::show) return all & ~unsigned{bit(view_attributes::of(n).dim)};
    if (n.kind != primitive::hide) return all;
    view_attributes const a = view_attributes::of(n);
    return a.own_copy || m.operand_value(n, 0).dims.has(a.dim) ? all | bit(a.dim) : all;
  }
  // Each index has a gradient of its own, so a tensor by which it is counts as a tensor of the index.
  constexpr void into_gradient(node const& n, auto const& join) const {
    for (int k = 1; k < n.operands.count; ++k) join(m.operand(n, k), of[m.operand(n, 0)]);
  }
  constexpr void around_loop(node const& n, auto const& join) const {
    loop const l = loop::of(n);
    region const& body = m.regions[m.region_of(n, 0)];
    unsigned const decision = of_decision(n);
    for (int k = 0; k < n.operands.count; ++k) {
      value_id const argument = m.link(body.arguments, k);
      join(argument, of[m.operand(n, k)]);
      if ((of[argument] & decision) != 0) join(argument, decision);
    }
    for (int k = 0; k < l.carries; ++k) join(m.link(body.arguments, k), of[m.link(body.results, k)] | decision);
  }
  constexpr void into_composite(node const& n, auto const& join) const {
    region const& body = m.regions[m.region_of(n, 0)];
    for (int k = 0; k < n.operands.count; ++k) join(m.link(body.arguments, k), of[m.operand(n, k)]);
    if (n.regions.count == 1) return;
    list const taken = m.regions[m.region_of(n, 1)].arguments;
    for (int k = 0; k < taken.count; ++k) {
      bool const is_operand = k < n.operands.count;
      join(m.link(taken, k),
           is_operand ? of[m.operand(n, k)] : of_computed(n, (k - n.operands.count) % n.results.count));
    }
  }

  // What differs spreads from operands to results, and around loops until nothing changes. It stands last, because
  // clang evaluates member templates only behind their definitions.
  constexpr void spread() {
    for (bool changed = true; changed;) {
      changed = false;
      auto const join = [&](value_id v, unsigned more) {
        if ((of[v] | more) == of[v]) return;
        of[v] = static_cast<std::uint16_t>(of[v] | more), changed = true;
      };
      for (int i = 0; i < m.node_count; ++i) {
        node const& n = m.nodes[i];
        if (n.kind == primitive::repeat) around_loop(n, join);
        else if (n.kind == primitive::composite) into_composite(n, join);
        else if (n.kind == primitive::gradient) into_gradient(n, join);
        for (int k = 0; k < n.results.count; ++k) join(m.result(n, k), of_computed(n, k));
      }
    }
  }
};

}  // namespace detail
}  // namespace meshtensor

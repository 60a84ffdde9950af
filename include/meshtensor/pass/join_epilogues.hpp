// SPDX-License-Identifier: Apache-2.0
// Joins convolutions, or products, with their epilogues. The epilogue of a convolution has a factor and an offset for
// each channel, another tensor to add, and relu. The epilogue of a product has an offset for each column and another
// tensor. A sum over axes of a known size of 1 does not end a chain.
// before: partitioned, composites inlined, not fused.  after: each such chain is a composite `conv_epilogue` or
// `product_epilogue`.
// why: a device that runs the composite whole stores the product's result only once. For example, a batch norm of
// running averages and the operations after it in a residual network form such a chain. Other chains are a linear map
// with its bias and the residual sum, and the sum of two gradients.
#pragma once

#include "meshtensor/pass/device_capabilities.hpp"
#include "meshtensor/pass/fuse/epilogue.hpp"
#include "meshtensor/pass/rebuild.hpp"

namespace meshtensor {

namespace detail {

struct epilogue_joiner {
  meshtensor::module const& from;
  rebuild w;
  id uses[max_values], user[max_values];  // the number of readers, and the last of them, plus 1
  id first_of[max_nodes];                 // of a node of a chain: the product that the chain begins with, plus 1
  id last_of[max_nodes];                  // of a product: the last node of its chain, plus 1
  epilogues joins;

  constexpr epilogue_joiner(module const& m, module& target, epilogues wanted)
      : from(m), w(m, target), uses{}, user{}, first_of{}, last_of{}, joins(wanted) {
    for (int r = 0; r < m.region_count; ++r)
      for (int k = 0; k < m.regions[r].results.count; ++k) ++uses[m.link(m.regions[r].results, k)];
    for (int i = 0; i < m.node_count; ++i)
      for (int k = 0; k < m.nodes[i].operands.count; ++k)
        ++uses[m.operand(m.nodes[i], k)], user[m.operand(m.nodes[i], k)] = static_cast<id>(i + 1);
    for (int i = 0; i < m.node_count; ++i) find_chain(i);
    for (int i = 0; i < m.node_count && w.m.report.empty(); ++i) {
      if (first_of[i] == 0) w.copy(m.nodes[i]);
      else if (last_of[first_of[i] - 1] == i + 1) write_chain(static_cast<node_id>(first_of[i] - 1));
    }
  }

 private:
  constexpr void find_chain(int first) {
    node const& c = from.nodes[first];
    if (!begins_chain(c)) return;
    value const& y = from.result_value(c);
    int stage = 0;  // 1 after a factor, 2 after an offset, 3 after a tensor, 4 after relu
    for (int joined = first, at = first; stage < 4;) {
      value_id const v = from.result(from.nodes[at]);
      if (uses[v] != 1 || user[v] == 0) break;
      int const next = user[v] - 1;
      node const& n = from.nodes[next];
      value const& z = from.result_value(n);
      if (n.region != c.region || first_of[next] != 0 || z.type != y.type || !(z.dims == y.dims)) break;
      at = next;
      if (sums_over_one(n)) continue;
      if (declared(n.kind).fusion != fusion_role::function || !(z.layout == from.values[v].layout)) break;
      int const now = stage_of(n, v, first);
      if (now <= stage) break;
      stage = now;
      while (joined != next) {
        joined = user[from.result(from.nodes[joined])] - 1;
        first_of[joined] = static_cast<id>(first + 1);
      }
      last_of[first] = static_cast<id>(next + 1);
    }
    if (stage != 0) first_of[first] = static_cast<id>(first + 1);
  }
  /// Whether a node is a sum over axes of size 1. Such a sum changes only the placement.
  constexpr bool sums_over_one(node const& n) const {
    if (n.kind != primitive::all_reduce) return false;
    unsigned const axes = collective_attributes::of(n).axes;
    for (int a = 0; a < from.axis_count; ++a)
      if ((axes >> a & 1u) != 0 && from.axes[a].extent != 1) return false;
    return true;
  }
  constexpr bool begins_chain(node const& n) const {
    if (declared(n.kind).joins != joins || n.function != 0 || is_in_composite(from, n)) return false;  // 0 is forward
    return joins == epilogues::of_products ? is_product(n) : from.result_value(n).type == dtype::f32;
  }
  /// Whether an einsum is one product of two matrices. Then no dim is in all three of its tensors, or in only one of
  /// them.
  constexpr bool is_product(node const& n) const {
    value const& y = from.result_value(n);
    if (n.operands.count != 2 || !is_float(y.type) || y.dims.count == 0) return false;
    shape const &a = from.operand_value(n, 0).dims, &b = from.operand_value(n, 1).dims;
    for (int i = 0; i < y.dims.count; ++i)
      if (a.has(y.dims.at[i]) == b.has(y.dims.at[i])) return false;
    for (int i = 0; i < a.count; ++i)
      if (!y.dims.has(a.at[i]) && !b.has(a.at[i])) return false;
    for (int i = 0; i < b.count; ++i)
      if (!y.dims.has(b.at[i]) && !a.has(b.at[i])) return false;
    return from.operand_value(n, 0).type == y.type && from.operand_value(n, 1).type == y.type;
  }
  constexpr int stage_of(node const& n, value_id v, int first) const {
    auto const how = static_cast<function>(n.function);
    bool const is_conv = joins == epilogues::of_convolutions;
    if (how == function::relu) return is_conv ? 4 : 0;
    if (how != function::add && !(is_conv && how == function::multiply)) return 0;
    value_id const other = from.operand(n, from.operand(n, 0) == v ? 1 : 0);
    if (is_conv ? is_for_channels(other, first) : is_for_columns(other, first))
      return how == function::multiply ? 1 : 2;
    value const &x = from.values[other], &y = from.values[v];
    return how == function::add && x.dims == y.dims && x.layout == y.layout ? 3 : 0;
  }
  /// Whether a value has one number for each output channel, and the channels are the last dim of the convolution's
  /// result.
  constexpr bool is_for_channels(value_id v, int conv) const {
    shape const& y = from.result_value(from.nodes[conv]).dims;
    shape const& own = from.values[v].dims;
    if (y.count < 2 || own.count != 1 || own.at[0] != y.at[y.count - 1]) return false;
    return from.operand_value(from.nodes[conv], 1).dims.has(own.at[0]) &&
           !from.operand_value(from.nodes[conv], 0).dims.has(own.at[0]);
  }

  /// Whether the value's dims are the last dims of the product's result, and exactly those that one operand provides.
  /// That operand is the one with the last dim of the result.
  constexpr bool is_for_columns(value_id v, int product) const {
    node const& n = from.nodes[product];
    shape const &y = from.result_value(n).dims, &own = from.values[v].dims;
    if (own.count == 0 || own.count >= y.count) return false;
    shape const& of_columns = from.operand_value(n, from.operand_value(n, 0).dims.has(y.at[y.count - 1]) ? 0 : 1).dims;
    for (int i = 0; i < y.count; ++i) {
      bool const is_column = i >= y.count - own.count;
      if (of_columns.has(y.at[i]) != is_column) return false;
      if (is_column && own.at[i - (y.count - own.count)] != y.at[i]) return false;
    }
    return true;
  }

  /// Writes a chain as a composite in the place of its last node.
  constexpr void write_chain(node_id first) {
    node const& c = from.nodes[first];
    node const& last = from.nodes[last_of[first] - 1];
    value const& z = from.result_value(last);
    builder& b = w.b;
    w.enter(last);
    region_id const around = b.region, old = c.region;
    name_id const label = b.intern(joins == epilogues::of_convolutions ? epilogue_name : product_epilogue_name);
    region_id const body = b.begin_region(region_kind::composite, label);
    id const entered = w.entered[old];
    id_list<> given{}, arguments{};
    auto const argument = [&](value_id v) {
      value const& like = from.values[v];
      b.region = body, given.add(w[v]);
      value_id const made = b.add_argument(like, like.dims);
      placement at = like.layout;
      for (int a = 0; a < max_axes; ++a)  // not partial behind sums over axes of size 1
        if (!z.layout.is_partial(a)) at.set_part(a, reduction::none);
      w.m.values[made].layout = at, w.m.values[made].origin = like.origin;
      set_place(w.m.nodes[w.m.values[made].node], arguments.count);
      arguments.add(made);
      return made;
    };
    value_id const multiplied[] = {argument(from.operand(c, 0)), argument(from.operand(c, 1))};
    w.entered[old] = static_cast<id>(body + 1);
    auto const copy = [&](node const& n, ids operands) {  // with the placement behind sums over axes of size 1
      w.copy(n, operands);
      w.m.values[w[from.result(n)]].layout = z.layout;
    };
    copy(c, ids(multiplied, 2));
    for (value_id v = from.result(c); v != from.result(last);) {
      node const& n = from.nodes[user[v] - 1];
      if (sums_over_one(n)) {
        w.replace(from.result(n), w[v]);
        v = from.result(n);
        continue;
      }
      value_id inside[2] = {w[v], w[v]};
      if (n.operands.count == 2) {
        int const at = from.operand(n, 0) == v ? 1 : 0;
        inside[at] = argument(from.operand(n, at));
      }
      copy(n, ids(inside, n.operands.count));
      v = from.result(n);
    }
    w.entered[old] = entered;
    value_id const results[] = {w[from.result(last)]};
    w.m.regions[body].arguments = b.add_links(arguments);
    w.m.regions[body].results = b.add_links(ids(results, 1));
    b.region = around;
    node_id const made =
        b.add_node(primitive::composite, 0, given, composite_attributes{label, given.count, false}.packed());
    value_id const result = b.add_result(made, z.type, z.dims);
    w.m.values[result].layout = z.layout, w.m.values[result].origin = z.origin;
    w.m.nodes[made].regions = b.add_links(std::span<region_id const>(&body, 1));
    w.replace(from.result(last), result);
  }
};

}  // namespace detail

/// Whether a module has operations of the kind that `joins` names.
constexpr bool may_join_epilogues(module const& m, epilogues joins) {
  for (int i = 0; i < m.node_count && joins != epilogues::none; ++i)
    if (declared(m.nodes[i].kind).joins == joins) return true;
  return false;
}

/// The module in which the epilogues of convolutions in f32, or of products, are joined to them.
constexpr module join_epilogues(module const& from, epilogues joins) {
  if (!from.report.empty()) return from;
  meshtensor::module m{};
  detail::epilogue_joiner const joined(from, m, joins);
  return m;
}

}  // namespace meshtensor

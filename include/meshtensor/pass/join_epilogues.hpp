// SPDX-License-Identifier: Apache-2.0
// Joins convolutions with their epilogues: a factor and an offset for each channel, another tensor, relu.
// before: partitioned, composites inlined, not fused.  after: each such chain is a composite `conv_epilogue`.
// why: a device that runs the composite whole stores the convolution's result once. A batch norm of running averages
// with what follows it in a residual network is such a chain.
#pragma once

#include "meshtensor/pass/fuse/epilogue.hpp"
#include "meshtensor/pass/rebuild.hpp"

namespace meshtensor {

namespace detail {

struct epilogue_joiner {
  meshtensor::module const& from;
  rebuild w;
  id uses[max_values], user[max_values];  // the number of readers; the last of them, plus 1
  id conv_of[max_nodes];                  // of a node of a chain: its convolution, plus 1
  id last_of[max_nodes];                  // of a convolution: the last node of its chain, plus 1

  constexpr epilogue_joiner(module const& m, module& target)
      : from(m), w(m, target), uses{}, user{}, conv_of{}, last_of{} {
    for (int r = 0; r < m.region_count; ++r)
      for (int k = 0; k < m.regions[r].results.count; ++k) ++uses[m.link(m.regions[r].results, k)];
    for (int i = 0; i < m.node_count; ++i)
      for (int k = 0; k < m.nodes[i].operands.count; ++k)
        ++uses[m.operand(m.nodes[i], k)], user[m.operand(m.nodes[i], k)] = static_cast<id>(i + 1);
    for (int i = 0; i < m.node_count; ++i) find_chain(i);
    for (int i = 0; i < m.node_count && w.m.report.empty(); ++i) {
      if (conv_of[i] == 0) w.copy(m.nodes[i]);
      else if (last_of[conv_of[i] - 1] == i + 1) write_chain(static_cast<node_id>(conv_of[i] - 1));
    }
  }

 private:
  constexpr void find_chain(int conv) {
    node const& c = from.nodes[conv];
    if (!declared(c.kind).joins_epilogue || c.function != 0 || is_in_composite(from, c)) return;  // 0: forward
    value const& y = from.result_value(c);
    if (y.type != dtype::f32) return;
    int stage = 0;  // 1: a factor was found, 2: an offset, 3: a tensor, 4: relu
    for (int at = conv; stage < 4;) {
      value_id const v = from.result(from.nodes[at]);
      if (uses[v] != 1 || user[v] == 0) break;
      int const next = user[v] - 1;
      node const& n = from.nodes[next];
      value const& z = from.result_value(n);
      if (declared(n.kind).fusion != fusion_role::function || n.region != c.region || conv_of[next] != 0 ||
          z.type != y.type || !(z.dims == y.dims) || !(z.layout == y.layout))
        break;
      int const now = stage_of(n, v, conv);
      if (now <= stage) break;
      stage = now, at = next;
      conv_of[next] = static_cast<id>(conv + 1), last_of[conv] = static_cast<id>(next + 1);
    }
    if (stage != 0) conv_of[conv] = static_cast<id>(conv + 1);
  }
  constexpr int stage_of(node const& n, value_id v, int conv) const {
    auto const how = static_cast<function>(n.function);
    if (how == function::relu) return 4;
    if (how != function::multiply && how != function::add) return 0;
    value_id const other = from.operand(n, from.operand(n, 0) == v ? 1 : 0);
    if (is_for_channels(other, conv)) return how == function::multiply ? 1 : 2;
    value const &x = from.values[other], &y = from.values[v];
    return how == function::add && x.dims == y.dims && x.layout == y.layout ? 3 : 0;
  }
  /// Whether a value has one number for each output channel, and these are the last dim of the convolution's result.
  constexpr bool is_for_channels(value_id v, int conv) const {
    shape const& y = from.result_value(from.nodes[conv]).dims;
    shape const& own = from.values[v].dims;
    if (y.count < 2 || own.count != 1 || own.at[0] != y.at[y.count - 1]) return false;
    return from.operand_value(from.nodes[conv], 1).dims.has(own.at[0]) &&
           !from.operand_value(from.nodes[conv], 0).dims.has(own.at[0]);
  }

  /// Writes a chain as a composite, in the place of its last node.
  constexpr void write_chain(node_id conv) {
    node const& c = from.nodes[conv];
    node const& last = from.nodes[last_of[conv] - 1];
    builder& b = w.b;
    w.enter(last);
    region_id const around = b.region, old = c.region;
    name_id const label = b.intern(epilogue_name);
    region_id const body = b.begin_region(region_kind::composite, label);
    id const entered = w.entered[old];
    id_list<> given{}, arguments{};
    auto const argument = [&](value_id v) {
      value const& like = from.values[v];
      b.region = body, given.add(w[v]);
      value_id const made = b.add_argument(like, like.dims);
      w.m.values[made].layout = like.layout, w.m.values[made].origin = like.origin;
      set_place(w.m.nodes[w.m.values[made].node], arguments.count);
      arguments.add(made);
      return made;
    };
    value_id const convolved[] = {argument(from.operand(c, 0)), argument(from.operand(c, 1))};
    w.entered[old] = static_cast<id>(body + 1);
    w.copy(c, ids(convolved, 2));
    for (value_id v = from.result(c); v != from.result(last);) {
      node const& n = from.nodes[user[v] - 1];
      value_id inside[2] = {w[v], w[v]};
      if (n.operands.count == 2) {
        int const at = from.operand(n, 0) == v ? 1 : 0;
        inside[at] = argument(from.operand(n, at));
      }
      w.copy(n, ids(inside, n.operands.count));
      v = from.result(n);
    }
    w.entered[old] = entered;
    value_id const results[] = {w[from.result(last)]};
    w.m.regions[body].arguments = b.add_links(arguments);
    w.m.regions[body].results = b.add_links(ids(results, 1));
    b.region = around;
    node_id const made =
        b.add_node(primitive::composite, 0, given, composite_attributes{label, given.count, false}.packed());
    value const& z = from.result_value(last);
    value_id const result = b.add_result(made, z.type, z.dims);
    w.m.values[result].layout = z.layout, w.m.values[result].origin = z.origin;
    w.m.nodes[made].regions = b.add_links(std::span<region_id const>(&body, 1));
    w.replace(from.result(last), result);
  }
};

}  // namespace detail

constexpr bool has_convolutions(module const& m) {
  for (int i = 0; i < m.node_count; ++i)
    if (declared(m.nodes[i].kind).joins_epilogue) return true;
  return false;
}

/// The module with the epilogues of convolutions in f32 joined to them.
constexpr module join_epilogues(module const& from) {
  if (!from.report.empty()) return from;
  meshtensor::module m{};
  detail::epilogue_joiner const joined(from, m);
  return m;
}

}  // namespace meshtensor

// SPDX-License-Identifier: Apache-2.0
// Chooses placements for an operation's operands and result, one mesh axis at a time.
#pragma once

#include "meshtensor/graph/locate.hpp"
#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/implied.hpp"
#include "meshtensor/pass/placed_copies.hpp"

namespace meshtensor::detail {

struct placement_rules : placed_copies {
  meshtensor::module const& from;
  diagnostic& report;
  implied_layout layout;
  bool reduced_early[max_values];  // of an old value: some use needs it reduced, so all uses may read it reduced

  constexpr placement_rules(module const& source, module& target, layout_rules const& rules, diagnostic& findings)
      : placed_copies(target), from(source), report(findings), layout(target, rules, findings), reduced_early{} {}

  /// The implied placement of an old value, for a node that produces or uses it.
  constexpr placement implied(value_id old, node const& n, shape const& whole = {}) {
    return settle(from.values[old].dims, n.path, whole, &n);
  }
  /// A placement in which each axis shards one dim, for a node or, if `n` is null, for the variable at a path.
  constexpr placement settle(shape const& dims, path_id path, shape const& whole, node const* n) {
    bool contested = false;
    placement const p = layout.of(dims, path, whole, &contested);
    if (!contested) return p;
    for (int a = 0; a < m.axis_count; ++a) {
      diagnostic d = layout.conflict(a, dims, path, whole);
      if (d.empty()) continue;
      if (n != nullptr) at_line(d, *n);
      else add_path(d << " (the parameter or state '", m, path) << "')";
      conflict(a, d);
    }
    return layout.settled(dims, path, whole);
  }
  /// Two dims claim one axis. An axis of size 1 shards neither; if its size is not known yet, `bind` checks it.
  constexpr void conflict(int axis, diagnostic const& d) {
    axis_row& row = m.axes[axis];
    if (row.extent > 1 && report.empty()) report = d;
    if (row.extent == 0 && row.conflict.empty()) row.conflict = d;
  }
  constexpr void at_line(node const& n) { at_line(report, n); }
  constexpr void at_line(diagnostic& d, node const& n) const {
    add_operation(d << " (", from, n);
    if (n.site != no_id) d << ", " << file_name(from.sites[n.site]) << ":" << from.sites[n.site].line;
    d << ")";
  }

  constexpr node_id make(node const& n, id_list<> const& operands) {
    node_id const made = b.add_node(n.kind, n.function, operands, attributes_of(n));
    m.nodes[made].effect = n.effect, m.nodes[made].ordinal = n.ordinal, m.nodes[made].copy = n.copy;
    return made;
  }
  constexpr void give(node_id made, value_id old, placement const& p) {
    value const& v = from.values[old];
    value_id const r = b.add_result(made, v.type, v.dims);
    m.values[r].layout = p, m.values[r].origin = static_cast<id>(old + 1);
    define(old, r);
  }

  // ---- building blocks of an operation's own `partition` ----

  /// The placement of an operand that the layout implies.
  constexpr placement implied_of(node const& n, int operand) { return implied(from.operand(n, operand), n); }
  constexpr placement implied_result(node const& n) { return implied(from.result(n), n); }
  /// An operand in placement `p`, resharded if needed.
  constexpr value_id placed_operand(node const& n, int operand, placement const& p) {
    return copy_at(from.operand(n, operand), p);
  }
  /// Sets the placement of a new value, and returns the value.
  constexpr value_id placed(value_id v, placement const& p) {
    m.values[v].layout = p;
    return v;
  }
  /// Reshards a new value to placement `p`: adds the collectives.
  constexpr value_id resharded(value_id v, placement const& p) { return reshard(b, v, p); }
  /// Makes a new value stand for the result of node `n`.
  constexpr void gives(node const& n, value_id v) {
    m.values[v].origin = static_cast<id>(from.result(n) + 1);
    define(from.result(n), v);
  }
  struct block_dims {
    dim_id blocks, inner;
  };
  /// Two dims into which `dim`, at position `place` of a value in placement `p`, can be split: `blocks` counts its
  /// shards, `inner` the elements of one shard. The same axes give the same two dims.
  constexpr block_dims dims_of_blocks(int dim, placement const& p, int place) {
    std::int64_t mask = 0;
    for (int a = 0; a < max_axes; ++a)
      if (p.sharded_at(a) == place) mask |= std::int64_t{1} << a;
    for (int d = from.dim_count; d + 1 < m.dim_count; ++d)
      if (m.dims[d].kind == dim_row::blocks && m.dims[d].first == dim && m.dims[d].value == mask)
        return {static_cast<dim_id>(d), static_cast<dim_id>(d + 1)};
    auto const of = static_cast<dim_id>(dim);
    dim_id const blocks = b.add_dim({dim_row::blocks, b.own_label(of, "blocks"), of, no_id, mask});
    return {blocks, b.add_dim({dim_row::in_block, b.own_label(of, "in_block"), of, blocks, 0})};
  }

  /// The rows that each rank may send, of those of a dim of rows.
  constexpr dim_id dim_of_sent(dim_id rows) {
    for (int d = from.dim_count; d < m.dim_count; ++d)
      if (m.dims[d].kind == dim_row::sent && m.dims[d].first == rows) return static_cast<dim_id>(d);
    return b.add_dim({dim_row::sent, b.own_label(rows, "sent"), rows, no_id, 0});
  }
  /// Lets a partial sum stay one over an axis that its placement `to` does not shard.
  constexpr void keep_partial_sum(node const& n, int operand, int axis, placement& to) {
    value_id const old = from.operand(n, operand);
    if (to.shards(axis) || reduced_early[old]) return;
    if (m.values[cheapest_copy(old, to)].layout.part(axis) == reduction::sum) to.set_part(axis, reduction::sum);
  }
  constexpr void refuse_two_exchanges(node const& n, dim_id groups) {
    report << "S05 rows are exchanged twice by '" << m.dim_name(groups)
           << "', over other axes the second time: give the second exchange groups of another name";
    at_line(n);
  }

  // ---- operations: by their own `partition`, or by their sharding rule ----

  constexpr void operation(node const& n) {
    auto& self = *this;  // nvcc does not take `*this` in a requirement
    bool const has_own_way = with_rule(n.kind, [&]<class R>() {
      if constexpr (requires { R::partition(self, n); }) return R::partition(self, n);
      else return false;
    });
    if (!has_own_way) by_sharding(n);
  }
  constexpr void by_sharding(node const& n) {
    int const count = n.operands.count;
    shape const result = from.result_value(n).dims;
    sharding const rule = sharding_of(from, n);
    shape all{};  // dims of all operands, as the result names them
    for (int i = 0; i < count; ++i)
      for (int k = 0, d = from.operand_value(n, i).dims.count; k < d; ++k) {
        int const raw = from.operand_value(n, i).dims.at[k], seen = rule.name_in_result(i, raw);
        if (rule.window_over(i, raw) == nullptr && !all.has(seen) && all.count < shape::capacity) all.add(seen);
      }
    // The placement that each operand needs.
    placement target[8];
    if (count > 8) {
      report << "S22 an operation has " << count << " operands, more than the 8 that can be placed together: split it";
      return at_line(n);
    }
    for (int i = 0; i < count; ++i) {
      shape const& dims = from.operand_value(n, i).dims;
      shape whole{};
      for (int k = 0; k < dims.count; ++k) {
        bool const lost = rule.contracts == reduction::none && !result.has(rule.name_in_result(i, dims.at[k]));
        if (lost || rule.needs_whole(dims.at[k])) whole.add(dims.at[k]);
      }
      target[i] = implied(from.operand(n, i), n, whole);
    }
    placement p{};
    for (int a = 0; a < m.axis_count && report.empty(); ++a) axis(n, rule, a, target, result, p);
    if (!report.empty()) return;
    order_lists(n, rule, target, result, p);
    order_groups(rule, result, p);
    fresh_dims(n, rule, all, result, p);
    id_list<> operands{};
    for (int i = 0; i < count; ++i) operands.add(copy_at(from.operand(n, i), target[i]));
    attributes const a = cover_windows(n, rule, target, p, operands);
    node_id const made = make(n, operands);
    set_attributes(m.nodes[made], a);
    give(made, from.result(n), p);
  }

  // ---- windows ----

  /// Widens operands along each sharded dim over which a window moves by what the window reaches; returns the
  /// attributes of the node, in which the windows move over the wider dims.
  constexpr attributes cover_windows(node const& n, sharding const& rule, placement const* target, placement const& p,
                                     id_list<>& operands) {
    attributes all = attributes_of(n);
    if (rule.windowed_count == 0) return all;
    window_row rows[max_windows_of_one] = {};
    for (int k = 0; k < rule.windowed_count; ++k) {
      windowed_dim const& w = rule.windowed[k];
      rows[k] = m.windows[w.window];
      if (m.values[operands.at[0]].layout.axes_of(m.values[operands.at[0]].dims.find(w.covered)) == 0) continue;
      placement parts{};  // of the other dim, as that of a value with one dim
      int const in_result = from.result_value(n).dims.find(w.parts);
      placement const& holds = in_result >= 0 ? p : target[1];
      int const at = in_result >= 0 ? in_result : from.operand_value(n, 1).dims.find(w.parts);
      for (int o = 0, axis = 0; (axis = holds.axis_at(at, o)) >= 0; ++o) parts.shard(0, axis);
      auto const of = static_cast<dim_id>(w.covered);
      dim_id const wider = cover_dim(of, static_cast<dim_id>(w.parts), {w.window, w.of_inputs, parts});
      for (int i = 0; i < operands.count; ++i)
        if (rule.window_over(i, w.covered) != nullptr) operands.at[i] = covered(operands.at[i], of, wider, parts);
      (w.of_inputs ? rows[k].input : rows[k].output) = wider;
    }
    all.at[0] = b.add_windows(std::span<window_row const>(rows, static_cast<std::size_t>(rule.windowed_count)));
    return all;
  }

  /// The dim that stands for what windows reach of `of` from the parts of another dim.
  constexpr dim_id cover_dim(dim_id of, dim_id parts, packed_cover const& how) {
    for (int d = from.dim_count; d < m.dim_count; ++d)
      if (m.dims[d].kind == dim_row::cover && m.dims[d].first == of && m.dims[d].second == parts &&
          m.dims[d].value == how.packed())
        return static_cast<dim_id>(d);
    return b.add_dim({dim_row::cover, b.own_label(of, "cover"), of, parts, how.packed()});
  }
  /// A value with the wider dim in the place of `of`: one exchange, which all users share.
  constexpr value_id covered(value_id v, dim_id of, dim_id wider, placement const& parts) {
    value const x = m.values[v];
    int const place = x.dims.find(of);
    placement to = x.layout;
    for (int a = 0; a < max_axes; ++a)
      if (to.sharded_at(a) == place) to.unshard(a);
    for (int o = 0, a = 0; (a = parts.axis_at(0, o)) >= 0; ++o) to.shard(place, a);
    for (int i = m.node_count; i-- > 0;) {
      node const& made = m.nodes[i];
      if (made.kind == primitive::move && m.operand(made, 0) == v && move_attributes::of(made).to == wider &&
          m.result_value(made).layout == to)
        return m.result(made);
    }
    region_id const here = b.region;
    b.region = x.region;
    value_id const made = add_move(b, v, {of, wider, no_id, no_id, 0, shift_kind::cut}, to);
    b.region = here;
    return made;
  }

  // ---- one mesh axis ----

  // For one mesh axis: the dim that it shards in this operation, or whether the result is partial over it.
  constexpr void axis(node const& n, sharding const& rule, int a, placement* target, shape const& result,
                      placement& p) {
    int sharded = -1, sharded_operand = -1;
    for (int i = 0; i < n.operands.count; ++i) {
      if (!target[i].shards(a)) continue;
      int const dim = sharded_by(n, rule, i, target[i], a);
      if (sharded >= 0 && sharded != dim && lies_with_rows(m, rule, sharded, dim, a, target[i])) continue;
      if (sharded >= 0 && sharded != dim && i > 0 &&
          lies_with_rows(m, rule, dim, sharded, a, target[sharded_operand])) {
        sharded = dim;
        continue;
      }
      if (sharded >= 0 && sharded != dim) {
        meet(n, a, sharded, dim);
        // The dim whose rule comes first keeps the axis; where both dims meet in one operand, it has it already.
        int const kept = layout.rule_for(dim, n.path) < layout.rule_for(sharded, n.path) ? dim : sharded;
        for (int k = 0; k <= i; ++k)
          if (target[k].shards(a) && sharded_by(n, rule, k, target[k], a) != kept) target[k].leave(a);
        sharded = kept;
        continue;
      }
      sharded = dim, sharded_operand = i;
    }
    if (sharded >= 0) {
      for (int i = 0; i < n.operands.count && rule.windowed_count != 0; ++i) {
        int const at = from.operand_value(n, i).dims.find(sharded);
        if (at >= 0 && rule.window_over(i, sharded) == nullptr && !target[i].shards(a)) target[i].shard(at, a);
      }
      int const position = result.find(sharded);
      if (position >= 0) p.shard(position, a, 0);
      else if (gives_groups(n, rule, sharded, a, result)) p.shard(result.find(rule.looked_up), a, 0);
      else p.set_part(a, rule.contracts);
      return;
    }
    keep_partial(n, rule, a, target, result, p);
  }

  /// Whether rows over an axis are summed into the groups of the rank that holds them, as the layout implies.
  constexpr bool gives_groups(node const& n, sharding const& rule, int rows, int a, shape const& result) {
    int const position = rule.looks ? result.find(rule.looked_up) : -1;
    if (position < 0) return false;
    placement const wanted = layout.settled(result, n.path, shape{});
    return wanted.sharded_at(a) == position && lies_with_rows(m, rule, rows, rule.looked_up, a, wanted);
  }

  /// Two dims that one axis shards meet in an operation.
  constexpr void meet(node const& n, int a, int first, int second) {
    if (m.axes[a].extent == 1) return;
    diagnostic d{};
    d << "S05 mesh axis '" << m.names[m.axes[a].label] << "' shards two dims that meet in one operation, '"
      << m.dim_name(first) << "' and '" << m.dim_name(second) << "': ";
    layout.cure(d, second, n.path);
    at_line(d, n);
    conflict(a, d);
  }

  /// The dim that an axis shards of an operand, as the result names it.
  constexpr int sharded_by(node const& n, sharding const& rule, int operand, placement const& p, int a) const {
    return rule.name_in_result(operand, from.operand_value(n, operand).dims.at[p.sharded_at(a)]);
  }

  // No operand is sharded over the axis: a partial operand may stay partial if the operation is linear in it.
  constexpr void keep_partial(node const& n, sharding const& rule, int a, placement* target, shape const& result,
                              placement& p) {
    int partials = 0, first = -1;
    reduction kind = reduction::none;
    bool alike = true;
    for (int i = 0; i < n.operands.count; ++i) {
      value_id const best = cheapest_copy(from.operand(n, i), target[i]);
      reduction const part = m.values[best].layout.part(a);
      if (part == reduction::none) continue;
      if (reduced_early[from.operand(n, i)]) return;
      if (partials++ == 0) first = i, kind = part;
      alike = alike && part == kind;
    }
    if (partials == 0) return;
    // A partial operand is reduced before an operation that makes it larger.
    bool const keeps_elements = declared(from, n).buffer == buffer_use::shared;
    if (!keeps_elements && !from.operand_value(n, first).dims.includes(result)) return;
    linearity const how = rule.linear(first, kind);
    if (how == linearity::together) {
      if (!alike || partials != n.operands.count) return;
      for (int i = 0; i < n.operands.count; ++i) target[i].set_part(a, kind);
      p.set_part(a, kind);
    } else if (how == linearity::alone) {
      target[first].set_part(a, kind);
      p.set_part(a, kind);
    }
  }

  // In the result the axes of a dim have the order that they have in the operands.
  constexpr void order_lists(node const& n, sharding const& rule, placement const* target, shape const& result,
                             placement& p) {
    for (int i = 0; i < n.operands.count; ++i)
      for (int a = 0; a < m.axis_count; ++a) {
        if (!target[i].shards(a) || !p.shards(a)) continue;
        if (result.find(sharded_by(n, rule, i, target[i], a)) == p.sharded_at(a)) p.set_order(a, target[i].order(a));
      }
  }

  // Groups that hold rows are cut as the exchange has cut them.
  constexpr void order_groups(sharding const& rule, shape const& result, placement& p) const {
    int const position = rule.looks ? result.find(rule.looked_up) : -1;
    if (position < 0 || p.axes_of(position) == 0) return;
    for (int d = 0; d < m.dim_count; ++d) {
      if (m.dims[d].kind != dim_row::holders || m.dims[d].first != rule.looked_up) continue;
      placement const& exchange = row_holders::unpacked(m.dims[d].value).exchange;
      for (int a = 0; a < max_axes; ++a)
        if (p.sharded_at(a) == position && exchange.shards(a)) p.set_order(a, exchange.order(a));
    }
  }

  // Dims that only the result has are sharded as the layout implies, over axes that are still free.
  constexpr void fresh_dims(node const& n, sharding const& rule, shape const& all, shape const& result, placement& p) {
    placement const wanted = layout.of(result, n.path, shape{}, nullptr);
    for (int position = 0; position < result.count; ++position) {
      int const dim = result.at[position];
      if (all.has(dim) || rule.needs_whole(dim)) continue;
      for (int o = 0, a = 0; (a = wanted.axis_at(position, o)) >= 0; ++o) {
        if (p.shards(a) || p.is_partial(a)) break;
        p.shard(position, a);
      }
    }
  }
};

}  // namespace meshtensor::detail

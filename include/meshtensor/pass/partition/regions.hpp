// SPDX-License-Identifier: Apache-2.0
// Partitions loops and composites: the operands, arguments and results of their regions.
#pragma once

#include "meshtensor/pass/partition/own_memory.hpp"
#include "meshtensor/pass/partition/partitioning.hpp"

namespace meshtensor::detail {

/// The placement of a slice of a value with the placement `stack`.
constexpr placement slice_of(placement stack) {
  for (int a = 0; a < max_axes; ++a)
    if (stack.shards(a)) stack.shard(stack.sharded_at(a) - 1, a, stack.order(a));
  return stack;
}
/// The placement of a stack of slices with the placement `slice`.
constexpr placement stack_of(placement slice) {
  for (int a = 0; a < max_axes; ++a)
    if (slice.shards(a)) slice.shard(slice.sharded_at(a) + 1, a, slice.order(a));
  return slice;
}

struct region_partitioner {
  partitioning& p;
  node_id owner[max_regions];  // the node of `p.from` that owns a region

  constexpr explicit region_partitioner(partitioning& program) : p(program), owner{} {
    for (int i = 0; i < p.from.node_count; ++i)
      for (int k = 0; k < p.from.nodes[i].regions.count; ++k)
        owner[p.from.region_of(p.from.nodes[i], k)] = static_cast<node_id>(i);
  }

  // The operand was computed before the argument. Therefore it is resharded in the region where it was computed.
  constexpr void argument(node const& n) {
    node const& o = p.from.nodes[owner[n.region]];
    int const place = place_of(n);
    value_id const passed = passed_operand(o, place);
    placement at = p.m.values[passed].layout;
    if (is_stacked(o, place)) at = slice_of(at);
    p.give(p.make(n, {}), p.from.result(n), at);
  }
  constexpr bool is_stacked(node const& o, int place) const {
    loop const l = loop::of(o);
    return o.kind == primitive::repeat && place >= l.carries && place < l.carries + l.stacked;
  }
  constexpr value_id passed_operand(node const& o, int place) {
    value_id const old = p.from.operand(o, place);
    path_id const path = p.b.path;
    site_id const site = p.b.site;
    p.b.path = o.path, p.b.site = o.site;
    placement to;
    if (o.kind == primitive::repeat && place < loop::of(o).carries) {
      to = p.implied(old, o);
    } else {
      value_id const f = p.copies.reduced_copy(old);
      shape whole{};  // without the dim of the loop, because each iteration has a slice
      if (is_stacked(o, place)) whole.add(p.from.values[old].dims.at[0]);
      to = p.m.values[f].layout.has_partial() ? p.implied(old, o, whole) : p.m.values[f].layout;
      if (is_stacked(o, place))
        for (int a = 0; a < max_axes; ++a)
          if (to.sharded_at(a) == 0) to.unshard(a);
    }
    value_id const made = p.copies.copy_at(old, to);
    p.b.path = path, p.b.site = site;
    return made;
  }

  constexpr void close(region_id r, id_list<> const& results) {
    id_list<> arguments{};
    for (int i = 0; i < p.from.regions[r].arguments.count; ++i)
      arguments.add(p.copies[p.from.link(p.from.regions[r].arguments, i)]);
    p.m.regions[r].arguments = p.b.add_links(arguments);
    p.m.regions[r].results = p.b.add_links(results);
  }

  constexpr void repeat(node const& n) {
    loop const l = loop::of(n);
    region_id const r = p.from.region_of(n, 0);
    region const& body = p.from.regions[r];
    id_list<> operands{}, results{};
    for (int i = 0; i < n.operands.count; ++i) operands.add(passed_operand(n, i));
    for (int i = 0; i < body.results.count; ++i) {
      value_id const old = p.from.link(body.results, i);
      if (i < l.carries) results.add(next_carry(old, p.copies[p.from.link(body.arguments, i)]));
      else if (i < l.carries + l.sums) results.add(term_of_sum(old));
      else results.add(p.copies.reduced_copy(old));
    }
    close(r, results);
    node_id const made = p.make(n, operands);
    id_list<2, region_id> owned{};
    owned.add(r);
    for (int i = 0; i < n.results.count; ++i) {
      placement const at = p.m.values[results.at[i]].layout;
      p.give(made, p.from.result(n, i), i < l.carries + l.sums ? at : stack_of(at));
    }
    p.m.nodes[made].regions = p.b.add_links(owned);
  }

  /// The next value of a carry, in the placement of the carry's argument. If it is another argument of the body, it is
  /// copied, so that carries may swap values.
  constexpr value_id next_carry(value_id old, value_id argument_now) {
    value_id const next = p.copies.copy_at(old, p.m.values[argument_now].layout);
    return owner_of_memory(p.m, next) == argument_now || !shares_argument(p.m, next) ? next : copied(p.b, next);
  }

  /// A term of a sum over iterations. It may stay a partial sum, but no other partial reduction.
  constexpr value_id term_of_sum(value_id old) {
    placement at = p.m.values[p.copies[old]].layout;
    for (int a = 0; a < max_axes; ++a)
      if (at.part(a) != reduction::sum) at.set_part(a, reduction::none);
    return p.copies.copy_at(old, at);
  }

  constexpr void composite(node const& n) {
    region_id const r = p.from.region_of(n, 0);
    region const& body = p.from.regions[r];
    id_list<> operands{}, results{};
    for (int i = 0; i < n.operands.count; ++i) operands.add(passed_operand(n, i));
    for (int i = 0; i < body.results.count; ++i) {
      value_id const v = p.copies.reduced_copy(p.from.link(body.results, i));
      results.add(shares_argument(p.m, v) ? copied(p.b, v) : v);  // a composite's result has memory of its own
    }
    close(r, results);
    node_id const made = p.make(n, operands);
    id_list<2, region_id> owned{};
    owned.add(r);
    for (int i = 0; i < n.results.count; ++i) p.give(made, p.from.result(n, i), p.m.values[results.at[i]].layout);
    p.m.nodes[made].regions = p.b.add_links(owned);
  }
};

}  // namespace meshtensor::detail

// SPDX-License-Identifier: Apache-2.0
// cumulative_sum: adds up, at each position along a dim, the elements up to it. Along a sharded dim, ranks exchange
// only their totals.
#pragma once

#include "meshtensor/op/reduce.hpp"
#include "meshtensor/op/reshape.hpp"

namespace meshtensor {

/// The elements that a cumulative sum adds up at a position: by default those from the first one to the one at the
/// position.
struct cumulative {
  bool exclusive = false;  // without the element itself: the first sum is 0
  bool reverse = false;    // from the last element to this one
};

constexpr value_id cumulative_sum(builder& b, value_id x, dim_id dim, cumulative const& which);

struct cumulative_sum_attributes {
  dim_id dim;
  cumulative which;

  static constexpr cumulative_sum_attributes of(id const* slots) {
    return {static_cast<dim_id>(slots[0]), {slots[1] != 0, slots[2] != 0}};
  }
  static constexpr cumulative_sum_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{dim, which.exclusive, which.reverse}}; }
};

struct cumulative_sum_rule {
  static constexpr primitive kind = primitive::cumulative_sum;
  static constexpr declaration declares{
      .attributes = {{attribute_kind::dim}, {attribute_kind::flag}, {attribute_kind::flag}},
      .work = work_kind::sum,
      .text = "along {0}"};

  static constexpr void infer(inference& i) {
    i.expect(i.dims_of(0).has(cumulative_sum_attributes::of(i.attributes).dim),
             "T01 cumulative_sum: the operand lacks the dim", 1, 1);
    i.expect(!i.has_type(0, dtype::boolean), "T04 cumulative_sum of bools: cast the operand", 1);
    i.give(i[0].type, i.dims_of(0));
  }
  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    return meshtensor::sharding{}
        .keeps_whole(cumulative_sum_attributes::of(n).dim)
        .passes_partial(linearity::separate, meshtensor::sharding::kind(reduction::sum));
  }
  /// Along a sharded dim, each rank first computes the cumulative sum of its own elements. The ranks then gather their
  /// totals, one for each shard. Each rank adds the totals of the shards before its own or, in reverse, of the shards
  /// after it.
  static constexpr bool partition(auto& p, node const& n) {
    builder& b = p.b;
    auto const how = cumulative_sum_attributes::of(n);
    placement const whole_dims = p.implied_of(n, 0);
    int const place = p.from.operand_value(n, 0).dims.find(how.dim);
    if (whole_dims.axes_of(place) == 0) return false;
    value_id const x = p.placed_operand(n, 0, whole_dims);
    auto const [blocks, inner] = p.dims_of_blocks(how.dim, whole_dims, place);
    shape const parts = shape{}.add(blocks).add(inner);
    placement in_blocks = whole_dims;  // `inner` follows `blocks`, so dims after both are one further
    for (int a = 0; a < max_axes; ++a)
      if (int const at = in_blocks.sharded_at(a); at > place) in_blocks.shard(at + 1, a, in_blocks.order(a));
    value_id const rows = p.placed(split(b, x, how.dim, parts), in_blocks);
    value_id const sums = p.placed(cumulative_sum(b, rows, inner, how.which), in_blocks);
    value_id const totals = p.placed(reduce(b, reduction::sum, rows, shape{}.add(inner)), whole_dims);
    placement gathered = whole_dims;
    for (int a = 0; a < max_axes; ++a)
      if (gathered.sharded_at(a) == place) gathered.unshard(a);
    value_id const all = p.resharded(totals, gathered);
    value_id const before = p.placed(cumulative_sum(b, all, blocks, {true, how.which.reverse}), gathered);
    value_id const own = p.resharded(before, whole_dims);
    value_id const moved = p.placed(add(b, sums, own), in_blocks);
    p.gives(n, p.placed(merge(b, moved, parts, how.dim), whole_dims));
    return true;
  }
  static constexpr std::int64_t flops(module const& m, node const& n, auto const& extents) {
    return extents.local_size(m.result_value(n));
  }
  static constexpr void gradient(differentiation& d, node const& n) {
    value_id const x = d.b.m.operand(n, 0);
    if (!d.differentiable(x)) return;
    cumulative_sum_attributes const a = cumulative_sum_attributes::of(n);
    d.contribute(x, cumulative_sum(d.b, d.cotangent(d.b.m.result(n)), a.dim, {a.which.exclusive, !a.which.reverse}));
  }

  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const &x = e.operands[0], &y = e.results[0];
    cumulative_sum_attributes const a = cumulative_sum_attributes::of(e.n);
    int const along = y.find(a.dim);
    std::int64_t const count = y.extent[along];
    walk<2> w = walk_of_lines(x, y, along);
    if (w.empty() || count == 0) return;
    with_element(y.type, [&]<class E>() {
      do {
        wide_sum<E> sum;
        for (std::int64_t i = 0; i < count; ++i) {
          std::int64_t const at = a.which.reverse ? count - 1 - i : i;
          E const term = x.as<E>()[w.offset[0] + at * x.stride[along]];
          if (!a.which.exclusive) sum.add(term);
          y.as<E>()[w.offset[1] + at * y.stride[along]] = sum.value();
          if (a.which.exclusive) sum.add(term);
        }
      } while (w.next());
    });
  }
};

constexpr value_id cumulative_sum(builder& b, value_id x, dim_id dim, cumulative const& which) {
  return add_node<cumulative_sum_rule>(b, {x}, cumulative_sum_attributes{dim, which}.packed());
}

// ---- public functions ----

/// Adds up the elements up to each position along a dim: `cumulative_sum(x, length)`. `.exclusive` leaves out the
/// element itself, and `.reverse` begins at the end: `cumulative_sum(x, length, {.exclusive = true, .reverse = true})`.
///
/// dims    those of `x`
/// layout  along a sharded dim, only the totals of the shards are exchanged. Otherwise a partial sum stays partial
/// grad    the cumulative sum of the cotangent in the other direction
/// errors  T01 `x` lacks the dim; T04 `x` is bool
template <handle H, dim_type D>
constexpr auto cumulative_sum(H const& x, D along, cumulative const& which = {},
                              detail::rule_line<cumulative_sum_rule, dims<D>, H> const& where = {}) {
  return detail::record<cumulative_sum_rule, D>(
      where, [&](builder& b) { return cumulative_sum(b, x.id, detail::dim_of(b, along), which); }, x);
}

}  // namespace meshtensor

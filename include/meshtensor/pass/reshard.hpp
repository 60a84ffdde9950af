// SPDX-License-Identifier: Apache-2.0
// Reshards one value from one placement to another: chooses the collectives and their order.
#pragma once

#include "meshtensor/op/detail/moved.hpp"

namespace meshtensor {

/// Rough cost of a change of placement, to choose the copy to start from. A cost of 0 means no communication.
constexpr int transition_cost(placement const& from, placement const& to) {
  int cost = 0;
  for (int a = 0; a < max_axes; ++a) {
    if (to.is_partial(a) && from.part(a) != to.part(a)) cost += 100;  // a reduced value never turns partial
    else if (from.is_partial(a)) cost += to.part(a) == from.part(a) ? 0 : to.shards(a) ? 1 : 2;
    else if (from.sharded_at(a) != to.sharded_at(a) || from.order(a) != to.order(a))
      cost += !from.shards(a) ? 0 : !to.shards(a) ? 2 : 1;
  }
  return cost;
}

namespace detail {

struct resharding {
  builder& b;
  value_id current;
  placement to;

  constexpr placement const& at() const { return b.m.values[current].layout; }

  constexpr void emit(primitive kind, std::uint8_t f, collective_attributes const& a, placement const& p) {
    value const v = b.m.values[current];
    current = b.add(kind, f, ids(&current, 1), v.type, v.dims, a.packed());
    b.m.values[current].layout = p;
  }
  constexpr dim_id dim_at(int position) const { return static_cast<dim_id>(b.m.values[current].dims.at[position]); }

  // The number of the target's axes that a dim already has, in order. If it has other axes, too, they are in the way.
  constexpr int agreed(int position) const {
    int n = 0;
    while (at().axis_at(position, n) >= 0 && at().axis_at(position, n) == to.axis_at(position, n)) ++n;
    return n;
  }
  /// The next axis that the dim needs, or -1 if there is none or another axis is in the way.
  constexpr int next_axis(int position) const {
    int const n = agreed(position);
    return at().axis_at(position, n) >= 0 ? -1 : to.axis_at(position, n);
  }

  constexpr bool slice(int position) {
    int const a = next_axis(position);
    if (a < 0 || !at().is_replicated(a)) return false;
    placement p = at();
    p.shard(position, a);
    emit(primitive::local_slice, 0, {.axes = 1u << a, .split = dim_at(position)}, p);
    return true;
  }
  constexpr bool scatter(int position) {
    int const a = next_axis(position);
    if (a < 0 || !at().is_partial(a)) return false;
    placement p = at();
    auto const kind = static_cast<std::uint8_t>(p.part(a));
    p.set_part(a, reduction::none);
    p.shard(position, a);
    emit(primitive::reduce_scatter, kind, {.axes = 1u << a, .split = dim_at(position)}, p);
    return true;
  }
  // Reduces all axes with partials of one kind that the target does not shard, in one all_reduce.
  constexpr bool reduce() {
    for (reduction kind : {reduction::sum, reduction::max, reduction::min}) {
      unsigned mask = 0;
      placement p = at();
      for (int a = 0; a < max_axes; ++a)
        if (p.part(a) == kind && to.part(a) != kind && !to.shards(a)) mask |= 1u << a, p.set_part(a, reduction::none);
      if (mask == 0) continue;
      emit(primitive::all_reduce, static_cast<std::uint8_t>(kind), {.axes = mask}, p);
      return true;
    }
    return false;
  }
  constexpr bool all_to_all(int position) {
    int const a = next_axis(position);
    if (a < 0 || !at().shards(a)) return false;
    int const source = at().sharded_at(a);
    if (at().order(a) + 1 != at().axes_of(source)) return false;  // only a dim's innermost axis can move in place
    placement p = at();
    p.unshard(a);
    p.shard(position, a);
    emit(primitive::all_to_all, 0, {.axes = 1u << a, .split = dim_at(position), .join = dim_at(source)}, p);
    return true;
  }
  constexpr bool gather(int position) {
    int const n = at().axes_of(position);
    if (n <= agreed(position)) return false;
    int const a = at().axis_at(position, n - 1);
    placement p = at();
    p.unshard(a);
    emit(primitive::all_gather, 0, {.axes = 1u << a, .join = dim_at(position)}, p);
    return true;
  }
  /// Whether an axis that is to be gathered also shards the target. Gathering would then undo sharding that is needed
  /// again.
  constexpr bool trades_axes() const {
    for (int a = 0; a < max_axes; ++a)
      if (at().is_partial(a) && at().part(a) != to.part(a)) return false;
    for (int a = 0; a < max_axes; ++a)
      if (at().shards(a) && to.shards(a) && !(at().sharded_at(a) == to.sharded_at(a) && at().order(a) == to.order(a)))
        return true;
    return false;
  }
  constexpr bool trade() {
    if (!trades_axes()) return false;
    dim_id const any = dim_at(0);
    current = add_move(b, current, {any, any, no_id, no_id, 0, shift_kind::cut}, to);
    return true;
  }
  // Reduces a partial axis that the target shards, but inside an axis that is not in place yet.
  constexpr bool finish_blocked() {
    for (int a = 0; a < max_axes; ++a) {
      if (!at().is_partial(a) || to.part(a) == at().part(a)) continue;
      placement p = at();
      auto const kind = static_cast<std::uint8_t>(p.part(a));
      p.set_part(a, reduction::none);
      emit(primitive::all_reduce, kind, {.axes = 1u << a}, p);
      return true;
    }
    return false;
  }

  constexpr void run() {
    int const dims = b.m.values[current].dims.count;
    auto any = [&](auto step) {
      for (int i = 0; i < dims; ++i)
        if (step(i)) return true;
      return false;
    };
    // Steps that shrink the value come first, and steps that enlarge it come last.
    while (!(at() == to)) {
      if (any([&](int i) { return slice(i); })) continue;
      if (any([&](int i) { return scatter(i); })) continue;
      if (reduce()) continue;
      if (any([&](int i) { return all_to_all(i); })) continue;
      if (trade()) continue;
      if (any([&](int i) { return gather(i); })) continue;
      if (finish_blocked()) continue;
      return b.note(diagnostic{} << "S20 a value cannot be resharded to the requested placement");
    }
  }
};

}  // namespace detail

/// Adds the nodes that reshard `v` to `to` at the builder's position, and returns the resharded value. If `v` has that
/// placement already, it is returned. The order is slice, reduce_scatter, all_reduce, all_to_all, move, all_gather.
/// Only the innermost axis of a dim is sliced, scattered, exchanged or gathered. If axes trade places in another way,
/// one move does it.
constexpr value_id reshard(builder& b, value_id v, placement const& to) {
  detail::resharding r{b, v, to};
  r.run();
  return r.current;
}

}  // namespace meshtensor

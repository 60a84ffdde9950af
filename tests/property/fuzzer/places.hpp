// SPDX-License-Identifier: Apache-2.0
// Draws operations along one dim: cumulative sums, orders, shifts, parts with steps, stacks, resizing and overwriting.
#pragma once

#include "meshtensor/op/cumulative_sum.hpp"
#include "meshtensor/op/resize.hpp"
#include "meshtensor/op/shift.hpp"
#include "meshtensor/op/slice_at.hpp"
#include "meshtensor/op/sort.hpp"
#include "meshtensor/op/stack.hpp"
#include "meshtensor/op/top_k.hpp"
#include "property/fuzzer/windows.hpp"

namespace property {

class fuzzer_places : public fuzzer_windows {
 protected:
  using fuzzer_windows::fuzzer_windows;

  void along(known const& x) {
    if (dims(x).count == 0) return;
    mt::dim_id const d = one_of(dims(x));
    if (c_.one_in(2))
      return know(mt::cumulative_sum(g.b, x.value, d, {c_.one_in(2), c_.one_in(2)}), x.bits + 6, x.fraction);
    mt::number_id const by = c_.one_in(3) ? step() : g.b.literal(c_.below(7) - 3);
    switch (c_.below(3)) {
      case 0: return know(shifted(x, mt::shift_kind::wrap, d, by, 0), x.bits, x.fraction);
      case 1: return know(shifted(x, mt::shift_kind::cut, d, by, c_.below(2)), std::max(x.bits, 1), x.fraction);
      default: return know(shifted(x, mt::shift_kind::reverse, d, last_of(d), 0), x.bits, x.fraction);
    }
  }

  void ordered(known const& x) {
    if (dims(x).count == 0) return;
    mt::any_tensor<f64> const all(&g.b, x.value);
    auto const best = [&](auto const& found) {
      if (c_.one_in(2)) know(mt::cast(g.b, std::get<1>(found).id, f64), 8, 0);
      know(std::get<0>(found).id, x.bits, x.fraction);
    };
    if (has(x, "m") && !has(x, "a") && !has(x, "b") && !has(x, "f") && fits(mt::united(dims(x), g.dims("a"))))
      return best(mt::top_k(all, own::m{}, own::f{}, own::a{}, own::b{}));
    if (has(x, "a") && !has(x, "e") && c_.one_in(2)) return best(mt::top_k(all, own::a{}, own::e{}));
    if (has(x, "c") && !has(x, "l") && c_.one_in(2)) return best(mt::top_k(all, own::c{}, own::l{}));
    auto const order = c_.one_in(2) ? mt::sort_order::ascending : mt::sort_order::descending;
    mt::sorted_values const both = mt::sort(g.b, x.value, one_of(dims(x)), order);
    if (c_.one_in(2)) know(mt::cast(g.b, both.positions, f64), 8, 0);
    know(both.sorted, x.bits, x.fraction);
  }

  /// Several values along a new dim; or one of those that such a value is made of.
  void stacked(known const& x) {
    if (has(x, "p") || has(x, "q")) {
      mt::dim_id const d = dim(has(x, "p") ? "p" : "q");
      mt::value_id const at = mt::constant(g.b, c_.below(has(x, "p") ? 2 : 3), mt::dtype::i64);
      return know(mt::gather(g.b, x.value, at, d, {}, mt::looks_into::whole_table), x.bits, x.fraction);
    }
    bool const two = c_.one_in(2);
    mt::id_list<> all{};
    known bounds = x;
    mt::shape both = dims(x);
    all.add(x.value);
    while (all.count < (two ? 2 : 3)) {
      known const y = any();
      if (has(y, "p") || has(y, "q") || mt::united(both, dims(y)).count > 3) return;
      both = mt::united(both, dims(y));
      bounds.bits = std::max(bounds.bits, y.bits), bounds.fraction = std::max(bounds.fraction, y.fraction);
      all.add(y.value);
    }
    mt::dim_id const d = two ? g.dim("p", mt::extent_rule(2)) : g.dim("q", mt::extent_rule(3));
    know(mt::stack(g.b, all, d), bounds.bits, bounds.fraction);
  }

  /// Other places of x along a dim of another extent: a part with steps or the way back, one of three parts that are
  /// joined, or a resized dim.
  void stepped(known const& any_value) {
    known x = any_with([&](known const& k) { return has(k, "s") || has(k, "t"); });
    if (x.value == mt::no_id || c_.one_in(2)) x = any_value;
    mt::dim_id const a = dim("a"), s = dim("s");
    bool const from_s = has(x, "s") && !has(x, "a"), from_a = has(x, "a") && !has(x, "s");
    if ((from_s || from_a) && c_.one_in(2)) {
      int const steps[] = {2, -1, -2}, step = steps[c_.below(3)];
      mt::number_id const first = step > 0 ? g.b.literal(c_.below(2)) : last_of(s), by = g.b.literal(step);
      if (from_s) return know(mt::slice(g.b, x.value, s, a, first, by), x.bits, x.fraction);
      return know(mt::pad(g.b, x.value, a, s, first, g.b.literal(c_.below(2)), by), std::max(x.bits, 1), x.fraction);
    }
    if (has(x, "t") && !has(x, "a")) {
      mt::number_id const first[] = {g.b.literal(0), extent_of(a), extent_of(dim("b"))};
      return know(mt::slice(g.b, x.value, dim("t"), a, first[c_.below(3)]), x.bits, x.fraction);
    }
    resized(x);
  }

  /// x with a slice, at a number or at a tensor, that another value overwrites; or such a slice.
  void overwritten(known const& x, known const& y) {
    if (dims(x).count == 0) return;
    if (c_.one_in(2)) {
      mt::dim_id const d = one_of(dims(x));
      if (dims(y).has(d) || !fits(mt::united(dims(x), dims(y)))) return;
      mt::number_id const at = c_.one_in(2) ? g.b.literal(0) : last_of(d);
      return know(mt::put(g.b, x.value, y.value, d, at), std::max(x.bits, y.bits), std::max(x.fraction, y.fraction));
    }
    mt::value_id const start = any_index();
    if (start == mt::no_id) return;
    bool const long_part = has(x, "s") && !has(x, "a");
    mt::dim_id const from = long_part ? dim("s") : one_of(dims(x)),
                     to = long_part ? dim("a") : g.dim("l", mt::extent_rule(1));
    if (dims(x).has(to) || dims(start).has(from) || dims(start).has(to) || !fits(mt::united(dims(x), dims(start))))
      return;
    if (c_.one_in(2)) return know(mt::slice_at(g.b, x.value, from, to, start), x.bits, x.fraction);
    mt::value_id const part = mt::negate(g.b, mt::slice(g.b, x.value, from, to, g.b.literal(0)));
    know(mt::put_at(g.b, x.value, part, from, to, start), x.bits, x.fraction);
  }

 private:
  /// The dims, as types.
  struct own {
    struct a : mt::dim<"a"> {};
    struct b : mt::dim<"b"> {};
    struct c : mt::dim<"c"> {};
    struct e : mt::dim<"e", mt::extent_rule{mt::extent_rule::shifted, 0, mt::name("a"), {}}> {};
    struct f : mt::dim<"f", mt::extent_rule{mt::extent_rule::shifted, 0, mt::name("b"), {}}> {};
    struct m : mt::dim<"m", mt::extent_rule{mt::extent_rule::product, 0, mt::name("a"), mt::name("b")}> {};
    struct l : mt::dim<"l", 1> {};
  };

  mt::number_id extent_of(mt::dim_id d) { return g.b.add_number(mt::extent_row(d)); }
  mt::number_id last_of(mt::dim_id d) {
    mt::number_id const all = extent_of(d), minus = g.b.literal(-1);
    return g.b.add_number({mt::number_row::expression, mt::function::add, all, minus, 0});
  }
  mt::number_id step() { return g.b.add_number({mt::number_row::step, mt::function::copy, mt::no_id, mt::no_id, 0}); }
  mt::value_id shifted(known const& x, mt::shift_kind how, mt::dim_id d, mt::number_id by, int around) {
    return mt::shift(g.b, x.value, how, {d, by, g.b.literal(around)});
  }
  void resized(known const& x) {
    if (dims(x).count == 0) return;
    if (has(x, "s") != has(x, "a") && c_.one_in(2)) {  // by two: shares are quarters
      bool const down = has(x, "s");
      return know(
          mt::detail::resize(g.b, x.value, dim(down ? "s" : "a"), dim(down ? "a" : "s"), mt::interpolation::linear),
          x.bits + 1, x.fraction + 2);
    }
    mt::dim_id const from = one_of(dims(x)), to = one_of(some_dims(1));
    if (!dims(x).has(to))
      know(mt::detail::resize(g.b, x.value, from, to, mt::interpolation::nearest), x.bits, x.fraction);
  }
};

}  // namespace property

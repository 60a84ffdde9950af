// SPDX-License-Identifier: Apache-2.0
// Draws the operations that most graphs are made of: functions, products, reductions, movement and lookup.
#pragma once

#include "meshtensor/op/random.hpp"
#include "property/fuzzer/pool.hpp"

namespace property {

class fuzzer_operations : public fuzzer_pool {
 protected:
  using fuzzer_pool::fuzzer_pool;

  void unary(known const& x) {
    constexpr mt::function all[] = {mt::function::negate, mt::function::abs,           mt::function::relu,
                                    mt::function::copy,   mt::function::stop_gradient, mt::function::sign,
                                    mt::function::floor};
    mt::function const f = all[c_.below(!stops_ ? 4 : differentiates_ ? 5 : 7)];
    know(mt::elementwise(g.b, f, x.value), x.bits, f == mt::function::floor ? 0 : x.fraction);
  }
  void binary(known const& x, known const& y) {
    constexpr mt::function all[] = {mt::function::add,      mt::function::add,     mt::function::subtract,
                                    mt::function::multiply, mt::function::maximum, mt::function::minimum};
    mt::function const f = all[c_.below(6)];
    mt::value_id const z = mt::elementwise(g.b, f, x.value, y.value);
    if (f == mt::function::multiply) know(z, x.bits + y.bits, x.fraction + y.fraction);
    else know(z, std::max(x.bits, y.bits) + 1, std::max(x.fraction, y.fraction));
  }
  void product() {
    mt::id_list<> operands{};
    mt::shape all{};
    int bits = 0, fraction = 0;
    for (int n = 1 + c_.below(4), i = 0; i < n; ++i) {
      known const x = any();
      mt::shape const both = mt::united(all, dims(x.value));
      if (both.count > 4) continue;
      all = both, bits += x.bits, fraction += x.fraction;
      operands.add(x.value);
    }
    if (operands.count == 0 || bits + fraction > 36) return;
    mt::shape to{};
    for (int i = 0; i < all.count; ++i)
      if (c_.one_in(2)) to.add(all.at[i]);
    know(mt::einsum(g.b, operands, shuffled(to)), bits + 4 * (all.count - to.count), fraction);
  }
  void reduction(known const& x) {
    mt::shape along{};
    for (int i = 0; i < dims(x.value).count; ++i)
      if (c_.one_in(2)) along.add(dims(x.value).at[i]);
    if (along.count == 0) return;
    auto const kind = static_cast<mt::reduction>(1 + c_.below(3));
    know(mt::reduce(g.b, kind, x.value, along), x.bits + (kind == mt::reduction::sum ? 5 * along.count : 0),
         x.fraction);
  }
  void spread(known const& x) {
    mt::shape all = dims(x.value);
    mt::shape const more = some_dims(1);
    if (!all.has(more.at[0]) && all.count < 3 && c_.one_in(2)) all.add(more.at[0]);
    all = shuffled(all);
    if (all.count == dims(x.value).count) know(mt::transpose(g.b, x.value, all), x.bits, x.fraction);
    else know(mt::broadcast(g.b, x.value, all), x.bits, x.fraction);
  }
  void renamed(known const& x) {
    char const* pairs[][2] = {{"a", "e"}, {"e", "a"}, {"b", "f"}, {"f", "b"}};
    for (auto const& p : pairs)
      if (dims(x.value).has(named(p[0])) && !dims(x.value).has(named(p[1])))
        return know(
            mt::rename(g.b, x.value, static_cast<mt::dim_id>(named(p[0])), static_cast<mt::dim_id>(named(p[1]))),
            x.bits, x.fraction);
  }
  void reshaped(known const& any_value) {
    mt::dim_id const joined = dim("m");
    mt::shape const parts = g.dims("ab"), outer = g.dims("mc");
    mt::dim_id const all = dim("n");  // of the three of them
    if (dims(any_value).has(all) && mt::without(dims(any_value), outer).count == dims(any_value).count)
      return know(mt::split(g.b, any_value.value, all, outer), any_value.bits, any_value.fraction);
    if (dims(any_value).includes(outer) && !dims(any_value).has(all) && c_.one_in(2))
      return know(mt::merge(g.b, any_value.value, outer, all), any_value.bits, any_value.fraction);
    if (dims(any_value).has(joined) && !dims(any_value).has(parts.at[0]) && !dims(any_value).has(parts.at[1]))
      return know(mt::split(g.b, any_value.value, joined, parts), any_value.bits, any_value.fraction);
    known const x = any_with([&](known const& k) { return dims(k).includes(parts) && !dims(k).has(joined); });
    if (x.value != mt::no_id) know(mt::merge(g.b, x.value, parts, joined), x.bits, x.fraction);
  }
  /// Any value with the dim `wanted`, perhaps renamed from `like`, and without some others, that fits beside `x`.
  known any_beside(known const& x, char const* wanted, char const* like, mt::shape const& others) {
    auto const fits_beside = [&](known const& k) {
      return mt::without(dims(k), others).count == dims(k).count && mt::united(dims(x), dims(k)).count <= 4;
    };
    if (known const y = any_with([&](known const& k) { return has(k, wanted) && fits_beside(k); });
        y.value != mt::no_id)
      return y;
    mt::shape const rest = mt::without(others, mt::shape{}.add(named(like)));
    known y = any_with([&](known const& k) {
      return has(k, like) && !has(k, wanted) && mt::without(dims(k), rest).count == dims(k).count &&
             mt::united(dims(x), dims(k)).count <= 3;
    });
    if (y.value != mt::no_id) y.value = mt::rename(g.b, y.value, dim(like), dim(wanted));
    return y;
  }
  known joined(known const& x, char const* dx, known const& y, char const* dy, mt::dim_id to) {
    mt::value_id const both = mt::concat(g.b, x.value, dim(dx), y.value, dim(dy), to);
    return {both, std::max(x.bits, y.bits), std::max(x.fraction, y.fraction)};
  }
  void part(known const& x) {
    mt::dim_id const a = dim("a"), s = dim("s");
    if (has(x, "s") && !has(x, "a"))
      return know(mt::slice(g.b, x.value, s, a, g.b.literal(c_.below(2))), x.bits, x.fraction);
    if (!has(x, "a") || has(x, "s")) return;
    if (!has(x, "e") && c_.one_in(2))
      if (known const y = any_beside(x, "e", "a", g.dims("as")); y.value != mt::no_id) {
        known all = joined(x, "a", y, "e", s);
        if (!has(all, "f") && c_.one_in(2))
          if (known const z = any_beside(all, "f", "b", g.dims("s")); z.value != mt::no_id)
            all = joined(all, "s", z, "f", g.sum("t", "s", "f"));
        return know(all.value, all.bits, all.fraction);
      }
    know(mt::pad(g.b, x.value, a, s, g.b.literal(c_.below(2)), g.b.literal(c_.below(2))), x.bits, x.fraction);
  }
  /// An input, or what is made of one, or of any value: then most indices are equal, or out of range. no_id: none.
  mt::value_id any_index() {
    constexpr auto i32 = mt::dtype::i32;
    if (indices_.empty()) return mt::no_id;
    if (stops_ && c_.one_in(4))
      if (known const x = any(); dims(x).count <= 2) return mt::cast(g.b, tamed(x.value), i32);
    mt::value_id const i = indices_[static_cast<std::size_t>(c_.below(2))];
    if (is_hidden(dims(i))) return mt::no_id;
    return c_.one_in(3) ? mt::elementwise(g.b, mt::function::minimum, i, mt::constant(g.b, 1, i32)) : i;
  }
  void lookup(known const& any_value) {
    mt::value_id const i = any_index();
    if (dims(any_value).count == 0 || i == mt::no_id) return;
    known x = any_value;
    auto const along = one_of(dims(x));
    if (c_.one_in(3)) {
      mt::dim_id const along_c = dim("c");
      x = any_with([&](known const& k) { return dims(k).includes(dims(i)) && !dims(k).has(along_c); });
      if (x.value == mt::no_id || hidden_.has(along_c)) return;
      mt::shape to{};
      for (int k = 0; k < dims(x.value).count; ++k)
        if (!dims(i).has(dims(x.value).at[k]) || c_.one_in(3)) to.add(dims(x.value).at[k]);
      return know(mt::scatter_add(g.b, x.value, i, along_c, shuffled(to.add(along_c))), x.bits + 10, x.fraction);
    }
    if (dims(i).has(along) || mt::united(dims(i), dims(x.value)).count > 4) return;
    if (c_.one_in(3)) {
      mt::shape one{};
      mt::value_id const part = mt::reduce(g.b, mt::reduction::max, x.value, one.add(along));
      return know(mt::put_rows(g.b, x.value, part, i, along), x.bits, x.fraction);
    }
    know(mt::gather(g.b, x.value, i, along), x.bits, x.fraction);
  }
  void made() {
    mt::shape const s = some_dims(1 + c_.below(2));
    if (c_.one_in(2)) return know(mt::iota(g.b, s.at[0], f64), 6, 0);
    mt::value_id const u = mt::random(g.b, mt::distribution::uniform, f64, s);
    know(mt::elementwise(g.b, mt::function::floor, mt::scale(g.b, u, 5)), 3, 0);
  }
  void scaled(known const& x) {
    if (c_.one_in(2)) return know(mt::divide(g.b, x.value, mt::constant(g.b, 2, f64)), x.bits, x.fraction + 1);
    constexpr double all[] = {1, -1, 3, 0.5};
    know(mt::scale(g.b, x.value, all[c_.below(4)]), x.bits + 2, x.fraction + 1);
  }
  void greatest(known const& x) {
    if (dims(x.value).count == 0) return;
    auto const along = static_cast<mt::dim_id>(dims(x.value).at[c_.below(dims(x.value).count)]);
    know(mt::cast(g.b, mt::argmax(g.b, x.value, along), f64), 6, 0);
  }
};

}  // namespace property

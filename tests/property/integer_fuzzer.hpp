// SPDX-License-Identifier: Apache-2.0
// Generates graphs of integers at random, with inputs, literals and results near the limits of f64, i32 and i64. No
// result leaves its dtype, so that values are exact and every layout and device must give the same bits.
#pragma once

#include <array>
#include <limits>

#include "meshtensor/op/cumulative_sum.hpp"
#include "meshtensor/op/shift.hpp"
#include "meshtensor/op/sort.hpp"
#include "meshtensor/op/stack.hpp"
#include "property/fuzzer/pool.hpp"

namespace property {

/// A drawn integer that is near a power of two at which something ends: 2^24 and 2^53, up to which f32 and f64 hold all
/// integers, 2^31, and 2^62 or 2^30, which are half of what the dtype holds; or a small one. `most` bounds its size.
inline std::int64_t near_a_limit(rng& c, mt::dtype type, std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  constexpr std::array wide{std::int64_t{1} << 62, std::int64_t{1} << 53, std::int64_t{1} << 53, std::int64_t{1} << 31,
                            std::int64_t{4}};
  constexpr std::array narrow{std::int64_t{1} << 30, std::int64_t{1} << 24, std::int64_t{1} << 16, std::int64_t{4}};
  std::int64_t const limit = type == mt::dtype::i64 ? wide[static_cast<std::size_t>(c.below(5))]
                                                    : narrow[static_cast<std::size_t>(c.below(4))];
  std::int64_t const size = limit + c.below(9) - 4;
  bool const is_negative = c.one_in(2);
  if (size > most) return is_negative ? -most : most;
  return is_negative ? -size : size;
}

/// Whether an input of a generated graph begins with integers near the limits; the others are indices.
inline bool is_near_limits(std::string const& label) { return label == "x" || label == "y" || label == "z"; }

/// Fills these inputs of a graph with such integers.
inline void fill_near_limits(mt::blocks& inputs, rng c) {
  for (auto& [label, b] : inputs) {
    if (!is_near_limits(label)) continue;
    for (std::int64_t i = 0; i < b.size(); ++i) {
      std::int64_t const n = near_a_limit(c, b.type());
      if (b.type() == mt::dtype::i64) b.as<std::int64_t>()[i] = n;
      else b.as<std::int32_t>()[i] = static_cast<std::int32_t>(n);
    }
  }
}

/// Generates one graph, of i64 or of i32.
class integer_fuzzer : public fuzzer_pool {
 public:
  explicit integer_fuzzer(std::uint64_t seed)
      : fuzzer_pool(seed, purpose::values), type_(c_.one_in(4) ? mt::dtype::i32 : mt::dtype::i64) {
    for (char const* label : {"x", "y", "z"}) know(g.input(label, type_, some_dims(1 + c_.below(3))), most_given());
    for (char const* label : {"i", "j"}) indices_.push_back(g.input(label, mt::dtype::i32, some_dims(c_.below(3))));
    if (c_.one_in(2)) declare_state();
    operations(5 + c_.below(10), 0);
    finish();
  }

 private:
  __extension__ using wide = __int128;
  struct integer {
    mt::value_id value;
    wide most;  // bounds its size
  };

  // ---- bounds ----

  wide limit() const {
    return type_ == mt::dtype::i64 ? std::numeric_limits<std::int64_t>::max()
                                   : wide(std::numeric_limits<std::int32_t>::max());
  }
  /// The bound of what `near_a_limit` gives.
  wide most_given() const { return (wide(1) << (type_ == mt::dtype::i64 ? 62 : 30)) + 4; }
  /// The bound of the extent of a dim.
  static wide most_of(std::string const& dim) { return dim == "n" ? 32768 : dim == "m" ? 1024 : 64; }
  wide elements(mt::shape const& along) const {
    wide all = 1;
    for (int i = 0; i < along.count; ++i) all *= most_of(g.b.m.dim_name(along.at[i]).text());
    return all;
  }
  mt::value_id constant(std::int64_t n) { return mt::constant(g.b, n, type_); }
  /// `x`, clamped where it may be larger than `most`.
  integer within(integer const& x, wide most) {
    if (x.most <= most) return x;
    wide const bits[] = {62, 53, 31, 24, 16, 8, 2};
    wide bound = 1;
    for (wide const b : bits)
      if (wide const near = (wide(1) << static_cast<int>(b)) + 1; near <= most && bound == 1) bound = near;
    auto const n = static_cast<std::int64_t>(bound);
    mt::value_id const low = mt::elementwise(g.b, mt::function::maximum, x.value, constant(-n));
    return {mt::elementwise(g.b, mt::function::minimum, low, constant(n)), bound};
  }
  void know(mt::value_id v, wide most) {
    if (!fits(dims(v))) return;
    integers_.push_back({v, most});
    if (c_.one_in(3)) g.at(c_.one_in(2) ? "op" : "other");
  }
  integer any_integer() { return integers_[static_cast<std::size_t>(c_.below(static_cast<int>(integers_.size())))]; }
  using fuzzer_pool::dims, fuzzer_pool::has;
  mt::shape const& dims(integer const& x) const { return dims(x.value); }
  bool has(integer const& x, char const* label) const { return named(label) >= 0 && dims(x).has(named(label)); }
  std::int64_t drawn(wide most) { return near_a_limit(c_, type_, static_cast<std::int64_t>(std::min(most, limit()))); }

  // ---- operations ----

  void operations(int count, int depth) {
    for (int k = 0; k < count; ++k) operation(depth);
  }
  void operation(int depth) {
    integer const x = any_integer(), y = any_integer();
    switch (c_.below(depth < 2 ? 24 : 22)) {
      case 0: return unary(x);
      case 1:
      case 2: return binary(x, y);
      case 3:
      case 4: return beside_literal(x);
      case 5:
      case 6: return compared(x, y);
      case 7: return product(x, y);
      case 8:
      case 9: return reduction(x);
      case 10: return spread(x);
      case 11: return reshaped(x);
      case 12: return part(x, y);
      case 13:
      case 14: return looked_up(x);
      case 15:
      case 16: return along(x);
      case 17: return ordered(x);
      case 18: return stacked(x, y);
      case 19: return overwritten(x, y);
      case 20: return divided(x);
      case 21: return converted(x);
      default: return repeat(depth);
    }
  }
  void unary(integer const& x) {
    constexpr mt::function all[] = {mt::function::negate, mt::function::abs, mt::function::relu, mt::function::copy};
    know(mt::elementwise(g.b, all[c_.below(4)], x.value), x.most);
  }
  void binary(integer const& x, integer const& y) {
    if (c_.one_in(2)) {
      mt::function const f = c_.one_in(2) ? mt::function::maximum : mt::function::minimum;
      return know(mt::elementwise(g.b, f, x.value, y.value), std::max(x.most, y.most));
    }
    if (c_.one_in(3)) {
      integer const small = within(y, 5), other = within(x, limit() / small.most);
      return know(mt::elementwise(g.b, mt::function::multiply, other.value, small.value), other.most * small.most);
    }
    integer const a = within(x, limit() / 2), b = within(y, limit() - a.most);
    mt::function const f = c_.one_in(2) ? mt::function::add : mt::function::subtract;
    know(mt::elementwise(g.b, f, a.value, b.value), a.most + b.most);
  }
  void beside_literal(integer const& x) {
    constexpr mt::function all[] = {mt::function::maximum, mt::function::minimum, mt::function::add,
                                    mt::function::subtract};
    mt::function const f = all[c_.below(4)];
    bool const adds = f == mt::function::add || f == mt::function::subtract;
    std::int64_t const n = drawn(adds ? limit() - x.most : limit());
    wide const size = n < 0 ? -wide(n) : wide(n);
    know(mt::elementwise(g.b, f, x.value, constant(n)), adds ? x.most + size : std::max(x.most, size));
  }
  void compared(integer const& x, integer const& y) {
    constexpr mt::function all[] = {mt::function::less, mt::function::less_equal, mt::function::equal,
                                    mt::function::not_equal};
    mt::value_id const beside = c_.one_in(2) ? y.value : constant(drawn(limit()));
    mt::value_id const is = mt::elementwise(g.b, all[c_.below(4)], x.value, beside);
    if (c_.one_in(3)) return know(mt::cast(g.b, is, type_), 1);
    integer const other = any_integer();
    know(mt::select(g.b, is, x.value, other.value), std::max(x.most, other.most));
  }
  void product(integer const& x, integer const& y) {
    mt::shape const all = mt::united(dims(x), dims(y));
    if (all.count > 4) return;
    mt::shape to{};
    for (int i = 0; i < all.count; ++i)
      if (c_.one_in(2)) to.add(all.at[i]);
    wide const terms = elements(mt::without(all, to));
    if (terms * 16 > limit()) return;
    integer const small = within(y, 5), other = within(x, limit() / (terms * small.most));
    mt::id_list<> operands{};
    operands.add(other.value), operands.add(small.value);
    know(mt::einsum(g.b, operands, shuffled(to)), other.most * small.most * terms);
  }
  void reduction(integer const& x) {
    mt::shape along{};
    for (int i = 0; i < dims(x).count; ++i)
      if (c_.one_in(2)) along.add(dims(x).at[i]);
    if (along.count == 0) return;
    auto const kind = static_cast<mt::reduction>(1 + c_.below(3));
    if (kind != mt::reduction::sum) return know(mt::reduce(g.b, kind, x.value, along), x.most);
    wide const terms = elements(along);
    if (terms * 4 > limit()) return;
    integer const some = within(x, limit() / terms);
    know(mt::reduce(g.b, kind, some.value, along), some.most * terms);
  }
  void spread(integer const& x) {
    mt::shape all = dims(x);
    mt::shape const more = some_dims(1);
    if (!all.has(more.at[0]) && all.count < 3 && c_.one_in(2)) all.add(more.at[0]);
    all = shuffled(all);
    if (all.count == dims(x).count) know(mt::transpose(g.b, x.value, all), x.most);
    else know(mt::broadcast(g.b, x.value, all), x.most);
  }
  void reshaped(integer const& x) {
    mt::dim_id const joined = dim("m");
    mt::shape const parts = g.dims("ab");
    if (has(x, "m") && !has(x, "a") && !has(x, "b")) return know(mt::split(g.b, x.value, joined, parts), x.most);
    if (dims(x).includes(parts) && !has(x, "m")) return know(mt::merge(g.b, x.value, parts, joined), x.most);
    if (has(x, "a") && !has(x, "e")) know(mt::rename(g.b, x.value, dim("a"), dim("e")), x.most);
  }
  void part(integer const& x, integer const& y) {
    mt::dim_id const a = dim("a"), e = dim("e"), s = dim("s");
    if (has(x, "s") && !has(x, "a")) {
      bool const back = c_.one_in(3);
      mt::number_id const by = g.b.literal(back ? -1 : 1), first = back ? last_of(s) : g.b.literal(c_.below(2));
      return know(mt::slice(g.b, x.value, s, a, first, by), x.most);
    }
    if (!has(x, "a") || has(x, "s")) return;
    if (!has(x, "e") && has(y, "e") && !has(y, "a") && !has(y, "s") && fits(mt::united(dims(x), dims(y))))
      return know(mt::concat(g.b, x.value, a, y.value, e, s), std::max(x.most, y.most));
    std::int64_t const around = drawn(limit());
    know(mt::pad(g.b, x.value, a, s, g.b.literal(c_.below(2)), g.b.literal(around)), std::max(x.most, size_of(around)));
  }
  void looked_up(integer const& x) {
    mt::value_id const i = indices_[static_cast<std::size_t>(c_.below(2))];
    if (dims(x).count == 0) return;
    mt::dim_id const d = one_of(dims(x)), c = dim("c");
    if (c_.one_in(3) && dims(x).includes(dims(i)) && !dims(x).has(c)) {
      mt::shape to{};
      for (int k = 0; k < dims(x).count; ++k)
        if (!dims(i).has(dims(x).at[k]) || c_.one_in(3)) to.add(dims(x).at[k]);
      wide const terms = elements(dims(i));
      if (terms * 4 > limit()) return;
      integer const some = within(x, limit() / terms);
      return know(mt::scatter_add(g.b, some.value, i, c, shuffled(to.add(c))), some.most * terms);
    }
    if (dims(i).has(d) || mt::united(dims(i), dims(x)).count > 4) return;
    if (c_.one_in(2)) return know(mt::gather(g.b, x.value, i, d), x.most);
    mt::shape one{};
    mt::value_id const row = mt::reduce(g.b, mt::reduction::max, x.value, one.add(d));
    know(mt::put_rows(g.b, x.value, row, i, d), x.most);
  }
  void along(integer const& x) {
    if (dims(x).count == 0) return;
    mt::dim_id const d = one_of(dims(x));
    if (c_.one_in(2)) {
      wide const terms = elements(mt::shape{}.add(d));
      integer const some = within(x, limit() / terms);
      return know(mt::cumulative_sum(g.b, some.value, d, {c_.one_in(2), c_.one_in(2)}), some.most * terms);
    }
    mt::number_id const by = g.b.literal(c_.below(7) - 3);
    std::int64_t const around = drawn(limit());
    auto const shifted = [&](mt::shift_kind how, mt::number_id n) {
      return mt::shift(g.b, x.value, how, {d, n, g.b.literal(how == mt::shift_kind::cut ? around : 0)});
    };
    switch (c_.below(3)) {
      case 0: return know(shifted(mt::shift_kind::wrap, by), x.most);
      case 1: return know(shifted(mt::shift_kind::cut, by), std::max(x.most, size_of(around)));
      default: return know(shifted(mt::shift_kind::reverse, last_of(d)), x.most);
    }
  }
  void ordered(integer const& x) {
    if (dims(x).count == 0) return;
    mt::dim_id const d = one_of(dims(x));
    mt::sort_order const order = c_.one_in(2) ? mt::sort_order::ascending : mt::sort_order::descending;
    if (c_.one_in(3)) return know(mt::cast(g.b, mt::argmax(g.b, x.value, d), type_), 32768);
    if (c_.one_in(2)) return know(mt::cast(g.b, mt::argsort(g.b, x.value, d, order), type_), 32768);
    know(mt::sort(g.b, x.value, d, order).sorted, x.most);
  }
  void stacked(integer const& x, integer const& y) {
    if (has(x, "p") || has(y, "p") || mt::united(dims(x), dims(y)).count > 3) return;
    mt::id_list<> both{};
    both.add(x.value), both.add(y.value);
    know(mt::stack(g.b, both, g.dim("p", mt::extent_rule(2))), std::max(x.most, y.most));
  }
  void overwritten(integer const& x, integer const& y) {
    if (dims(x).count == 0) return;
    mt::dim_id const d = one_of(dims(x));
    if (c_.one_in(2)) {
      if (dims(y).has(d) || !fits(mt::united(dims(x), dims(y)))) return;
      mt::number_id const at = c_.one_in(2) ? g.b.literal(0) : last_of(d);
      return know(mt::put(g.b, x.value, y.value, d, at), std::max(x.most, y.most));
    }
    mt::value_id const start = indices_[static_cast<std::size_t>(c_.below(2))];
    mt::dim_id const to = g.dim("l", mt::extent_rule(1));
    if (dims(x).has(to) || dims(start).has(d) || dims(start).has(to) || !fits(mt::united(dims(x), dims(start)))) return;
    if (c_.one_in(2)) return know(mt::slice_at(g.b, x.value, d, to, start), x.most);
    mt::value_id const row = mt::negate(g.b, mt::slice(g.b, x.value, d, to, g.b.literal(0)));
    know(mt::put_at(g.b, x.value, row, d, to, start), x.most);
  }
  void divided(integer const& x) {
    std::int64_t n = drawn(limit());
    if (n == 0) n = 3;
    if (c_.one_in(2)) return know(mt::elementwise(g.b, mt::function::modulo, x.value, constant(n)), size_of(n));
    know(mt::elementwise(g.b, mt::function::divide, x.value, constant(n)), x.most);
  }
  /// x in another dtype and back. Floats round an integer to one of at most the next power of two.
  void converted(integer const& x) {
    auto const there_and_back = [&](integer const& y, mt::dtype type) {
      return mt::cast(g.b, mt::cast(g.b, y.value, type), type_);
    };
    if (c_.one_in(2)) {
      integer const half = within(x, limit() / 2);
      return know(there_and_back(half, c_.one_in(2) ? mt::dtype::f64 : mt::dtype::f32), 2 * half.most);
    }
    if (type_ == mt::dtype::i32) return know(there_and_back(x, mt::dtype::i64), x.most);
    integer const narrow = within(x, std::numeric_limits<std::int32_t>::max());
    know(there_and_back(narrow, mt::dtype::i32), narrow.most);
  }

  void repeat(int depth) {
    mt::dim_id const over = static_cast<mt::dim_id>(named(c_.one_in(2) ? "d" : "c"));
    std::vector<integer> carries, sequences;
    for (int n = 1 + c_.below(2), i = 0; i < n; ++i)
      if (integer const x = any_integer(); !dims(x).has(over)) carries.push_back(x);
    if (integer const x = any_integer(); dims(x).has(over))
      sequences.push_back({mt::transpose(g.b, x.value, mt::led_by(over, dims(x))), x.most});
    if (carries.empty() && sequences.empty()) return;
    auto const outer = integers_;
    g.b.begin_frame(mt::region_kind::body, mt::no_id, over, c_.one_in(2));
    std::vector<integer> inner, given;
    for (integer const& x : carries) inner.push_back({g.b.add_carry(x.value), std::max(x.most, most_given())});
    for (integer const& x : sequences) integers_.push_back({g.b.add_stacked(x.value), x.most});
    integers_.insert(integers_.end(), inner.begin(), inner.end());
    operations(2 + c_.below(4), depth + 1);
    mt::id_list<> results{};
    for (integer const& x : inner) {
      integer next = x;
      for (std::size_t k = integers_.size(); k-- > outer.size();)
        if (dims(integers_[k]) == dims(x) && c_.one_in(2)) next = integers_[k];
      results.add(g.b.use(within(next, x.most).value));
    }
    for (int n = c_.below(3), i = 0; i < n; ++i)
      if (integer const x = any_integer(); !dims(x).has(over) && dims(x).count < 4)
        results.add(g.b.use(x.value)), given.push_back(x);
    mt::frame const f = g.b.end_frame(results);
    integers_ = outer;
    mt::id_list<> operands{};
    for (integer const& x : carries) operands.add(x.value);
    operands.add_all(f.stacked), operands.add_all(f.invariants);
    mt::node_id const n = g.b.add_node(mt::primitive::repeat, 0, operands);
    mt::loop{over, static_cast<int>(carries.size()), f.stacked.count, 0, c_.one_in(4), false}.store(g.b.m.nodes[n]);
    mt::region_id const owned[] = {f.region};
    g.b.m.nodes[n].regions = g.b.add_links(owned);
    std::vector<mt::value_id> made;
    for (integer const& x : carries) made.push_back(g.b.add_result(n, type_, dims(x)));
    for (integer const& x : given) made.push_back(g.b.add_result(n, type_, mt::led_by(over, dims(x))));
    for (std::size_t i = 0; i < made.size(); ++i)
      know(made[i], i < inner.size() ? inner[i].most : given[i - inner.size()].most);
  }

  // ---- state and results ----

  void declare_state() {
    mt::path_id const path = g.b.add_path(mt::no_id, mt::name::of("p"));
    mt::shape const s = some_dims(1 + c_.below(2));
    state_ = mt::detail::declare(g.b, path, type_, s, mt::constant(drawn(most_given())), true);
    know(mt::detail::read(g.b, state_), most_given());
    state_dims_ = s, has_state_ = true;
  }
  void finish() {
    int made = 0;
    for (std::size_t i = integers_.size(); i-- > 0;)
      if (i + 1 == integers_.size() || c_.one_in(2))
        g.output(("o" + std::to_string(made++)).c_str(), integers_[i].value);
    if (!has_state_) return;
    for (std::size_t i = integers_.size(); i-- > 0;)
      if (dims(integers_[i]) == state_dims_) {
        mt::value_id const next = within(integers_[i], most_given()).value;
        g.b.m.nodes[g.b.add_node(mt::primitive::write, 0, mt::ids(&next, 1), {{state_}})].effect = true;
        return;
      }
  }
  static wide size_of(std::int64_t n) { return n < 0 ? -wide(n) : wide(n); }
  mt::number_id last_of(mt::dim_id d) {
    mt::number_id const all = g.b.add_number(mt::extent_row(d)), minus = g.b.literal(-1);
    return g.b.add_number({mt::number_row::expression, mt::function::add, all, minus, 0});
  }

  mt::dtype type_;
  std::vector<integer> integers_;
  mt::variable_id state_{};
  mt::shape state_dims_{};
  bool has_state_ = false;
};

}  // namespace property

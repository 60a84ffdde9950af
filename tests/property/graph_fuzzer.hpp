// SPDX-License-Identifier: Apache-2.0
// Generates graphs at random: functions, products, reductions, movement, lookup, loops, composites and state, with
// values that stay exact in f64.
#pragma once

#include "meshtensor/op/random.hpp"
#include "property/graph.hpp"

namespace property {

/// The purpose of a graph. `values`: all stay exact, |value| < 2^bits and a multiple of 2^-fraction, so that the order
/// of sums does not matter. `gradients`: outputs the gradient of a loss, too. `derivatives`: the same, without
/// operations for which finite differences see more than the gradient.
enum class purpose { values, gradients, derivatives };

/// Generates one graph.
class graph_fuzzer {
 public:
  explicit graph_fuzzer(std::uint64_t seed, purpose p = purpose::values)
      : c_{seed}, differentiates_(p != purpose::values), stops_(p != purpose::derivatives) {
    for (char const* label : {"a", "b", "c", "d"}) g.dim(label);
    g.same("e", "a"), g.same("f", "b");
    g.product("m", "a", "b"), g.sum("s", "a", "e");
    for (char const* label : {"x", "y", "z"}) inputs_.push_back(g.input(label, f64, some_dims(1 + c_.below(3))));
    for (mt::value_id x : inputs_) know(x, 2, 0);
    for (char const* label : {"i", "j"}) indices_.push_back(g.input(label, mt::dtype::i32, some_dims(c_.below(3))));
    if (c_.one_in(2)) declare_state();
    operations(4 + c_.below(10), 0);
    finish();
  }

  graph g;
  std::vector<std::string> gradients;  // names of the outputs with the gradients of the loss by x, y, z

 private:
  static constexpr auto f64 = mt::dtype::f64;
  struct known {
    mt::value_id value;
    int bits, fraction;
  };

  // ---- dims and values ----

  mt::shape const& dims(mt::value_id v) const { return g.b.m.values[v].dims; }
  std::string dim_text(int d) const { return g.b.m.dim_name(d).text(); }
  int named(char const* label) const {
    for (int d = 0; d < g.b.m.dim_count; ++d)
      if (g.b.m.dim_name(d) == mt::name::of(label)) return d;
    return -1;
  }
  mt::shape some_dims(int count) {
    mt::shape s{};
    while (s.count < count)
      if (int const d = named(std::string(1, "abcd"[c_.below(4)]).c_str()); !s.has(d) && !hidden_.has(d)) s.add(d);
    return s;
  }
  bool is_hidden(mt::shape const& s) const { return mt::without(s, hidden_).count != s.count; }
  known any() { return pool_[static_cast<std::size_t>(c_.below(static_cast<int>(pool_.size())))]; }
  void know(mt::value_id v, int bits, int fraction) {
    if (dims(v).count > 4) return;  // more would be too large on eight processors
    if (bits + fraction > (differentiates_ ? 14 : 40)) v = tamed(v), bits = 2, fraction = 0;
    pool_.push_back({v, bits, fraction});
    if (c_.one_in(3)) g.at(c_.one_in(2) ? "op" : "other");
  }

  // ---- operations ----

  void operations(int count, int depth) {
    for (int k = 0; k < count; ++k) operation(depth);
  }
  void operation(int depth) {
    known const x = any(), y = any();
    switch (c_.below(depth < 2 ? 20 : 17)) {
      case 0: return unary(x);
      case 1:
      case 2:
      case 3: return binary(x, y);
      case 4: {
        mt::value_id const less = mt::elementwise(g.b, mt::function::less, x.value, y.value);
        mt::value_id const chosen = mt::select(g.b, less, x.value, any_like(x).value);
        return know(chosen, 12, 12);
      }
      case 5:
      case 6: return product();
      case 7:
      case 8: return reduction(x);
      case 9: return spread(x);
      case 10: return renamed(x);
      case 11: return reshaped(x);
      case 12: return part(x, y);
      case 13: return lookup(x);
      case 14: return made();
      case 15: return scaled(x);
      case 16: return greatest(x);
      case 17: return !stops_ || c_.one_in(2) ? composite(depth) : closed_composite();
      default: return repeat(depth);
    }
  }
  known any_like(known const& x) {  // any value with no greater bounds
    for (int i = 0; i < 4; ++i)
      if (known const y = any(); y.bits <= 12 && y.fraction <= 12) return y;
    return x;
  }

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
  mt::shape shuffled(mt::shape s) {
    for (int i = s.count; i-- > 1;) std::swap(s.at[i], s.at[c_.below(i + 1)]);
    return s;
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
  void reshaped(known const& x) {
    mt::dim_id const joined = static_cast<mt::dim_id>(named("m"));
    mt::shape const parts = g.dims("ab");
    if (dims(x.value).has(joined)) {
      if (!dims(x.value).has(parts.at[0]) && !dims(x.value).has(parts.at[1]))
        know(mt::split(g.b, x.value, joined, parts), x.bits, x.fraction);
    } else if (dims(x.value).includes(parts)) {
      know(mt::merge(g.b, x.value, parts, joined), x.bits, x.fraction);
    }
  }
  void part(known const& x, known const& y) {
    mt::dim_id const a = static_cast<mt::dim_id>(named("a")), e = static_cast<mt::dim_id>(named("e")),
                     s = static_cast<mt::dim_id>(named("s"));
    mt::shape const &dx = dims(x.value), &dy = dims(y.value);
    if (dx.has(s) && !dx.has(a))
      return know(mt::slice(g.b, x.value, s, a, g.b.literal(c_.below(2))), x.bits, x.fraction);
    if (!dx.has(a) || dx.has(s)) return;
    if (dy.has(e) && !dy.has(s) && !dy.has(a) && !dx.has(e) && mt::united(dx, dy).count <= 4 && c_.one_in(2))
      return know(mt::concat(g.b, x.value, a, y.value, e, s), std::max(x.bits, y.bits),
                  std::max(x.fraction, y.fraction));
    know(mt::pad(g.b, x.value, a, s, g.b.literal(c_.below(2)), g.b.literal(c_.below(2))), x.bits, x.fraction);
  }
  void lookup(known const& x) {
    if (dims(x.value).count == 0 || indices_.empty()) return;
    mt::value_id const i = indices_[static_cast<std::size_t>(c_.below(2))];
    if (is_hidden(dims(i))) return;
    auto const along = static_cast<mt::dim_id>(dims(x.value).at[c_.below(dims(x.value).count)]);
    if (c_.one_in(3)) {
      mt::dim_id const along_c = static_cast<mt::dim_id>(named("c"));
      if (!dims(x.value).includes(dims(i)) || dims(x.value).has(along_c) || hidden_.has(along_c)) return;
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

  // ---- regions ----

  /// Runs f with the current pool, and forgets the values made inside. The gradient of a loop stacks the values inside,
  /// which therefore cannot have the loop's own dim.
  template <class F>
  void inside(mt::shape const& loop_dim, F f) {
    auto const outer = pool_;
    auto const hidden = hidden_;
    if (differentiates_) {
      hidden_ = mt::united(hidden_, loop_dim);
      std::erase_if(pool_, [&](known const& x) { return is_hidden(dims(x.value)); });
    }
    f();
    pool_ = outer, hidden_ = hidden;
  }
  /// `v` clamped to [-3, 3], in whole steps where values stay exact: for carries and results of regions.
  mt::value_id tamed(mt::value_id v) {
    mt::value_id const whole = differentiates_ ? mt::scale(g.b, v, 0.5) : mt::elementwise(g.b, mt::function::floor, v);
    mt::value_id const low = mt::elementwise(g.b, mt::function::maximum, whole, mt::constant(g.b, -3, f64));
    return mt::elementwise(g.b, mt::function::minimum, low, mt::constant(g.b, 3, f64));
  }
  mt::value_id maybe_tamed(known const& x) {
    return x.bits <= 2 && x.fraction == 0 && c_.one_in(2) ? x.value : tamed(x.value);
  }

  void composite(int depth) {
    mt::name_id const label = g.b.intern(mt::name("group"));
    mt::id_list<> operands{}, results{};
    mt::frame f{};
    inside({}, [&] {
      known const x = any(), y = any();
      operands.add(x.value), operands.add(y.value);
      g.b.begin_frame(mt::region_kind::composite, label, mt::no_id, true);
      pool_.push_back({g.b.add_carry(x.value), x.bits, x.fraction});
      pool_.push_back({g.b.add_carry(y.value), y.bits, y.fraction});
      if (c_.one_in(3)) std::swap(pool_[pool_.size() - 1], pool_[pool_.size() - 2]);
      else operations(1 + c_.below(3), depth + 1);
      for (int i = 0; i < 2; ++i)
        results.add(g.b.use(maybe_tamed(pool_[pool_.size() - 1 - static_cast<std::size_t>(i)])));
      f = g.b.end_frame(results);
    });
    operands.add_all(f.invariants);
    mt::node_id const n = g.b.add_node(mt::primitive::composite, 0, operands, {{label, 2}});
    own(n, f.region);
    mt::value_id given[2];
    for (int i = 0; i < 2; ++i) given[i] = g.b.add_result(n, f64, dims(results.at[i]));
    for (mt::value_id v : given) know(v, 2, 0);
  }
  // A composite with its own gradient, here any function with the right dims. It uses no values from outside.
  void closed_composite() {
    mt::name_id const label = g.b.intern(mt::name("closed"));
    known const x = any(), y = any();
    mt::value_id const operands[] = {x.value, y.value};
    mt::id_list<> results{}, terms{};
    mt::region_id regions[2];
    auto const shut = [&](mt::region_kind kind, auto f) {
      auto const pool = std::exchange(pool_, {});
      auto const indices = std::exchange(indices_, {});
      g.b.begin_frame(kind, label, mt::no_id, true);
      for (mt::value_id o : operands) pool_.push_back({g.b.add_carry(o), 6, 6});
      f();
      pool_ = pool, indices_ = indices;
    };
    shut(mt::region_kind::composite, [&] {
      operations(2, 2);
      results.add(maybe_tamed(pool_.back())), results.add(maybe_tamed(any()));
      regions[0] = g.b.end_frame(results).region;
    });
    shut(mt::region_kind::gradient, [&] {
      mt::value_id arguments[4];
      for (int i = 0; i < 4; ++i) {  // results, then their cotangents
        mt::value const v = g.b.m.values[results.at[i % 2]];
        arguments[i] = g.b.add_argument(v, v.dims);
        g.b.frames[g.b.depth - 1].carries.add(arguments[i]);
        pool_.push_back({arguments[i], 6, 6});
      }
      operations(2, 2);
      for (mt::value_id o : operands) {  // a gradient that uses a result must use its cotangent, too (G35)
        mt::value_id const term = fitted(any().value, dims(o));
        terms.add(mt::add(g.b, mt::add(g.b, term, summed(arguments[2], dims(o))), summed(arguments[3], dims(o))));
      }
      regions[1] = g.b.end_frame(terms).region;
    });
    mt::node_id const n = g.b.add_node(mt::primitive::composite, 0, operands, {{label, 2}});
    g.b.m.nodes[n].regions = g.b.add_links(regions);
    mt::value_id given[2];
    for (int i = 0; i < 2; ++i) given[i] = g.b.add_result(n, f64, dims(results.at[i]));
    for (mt::value_id v : given) know(v, 12, 12);
  }
  /// `v` summed over the dims that `to` lacks, and broadcast to `to`.
  mt::value_id summed(mt::value_id v, mt::shape const& to) {
    mt::shape const lost = mt::without(dims(v), to);
    if (lost.count != 0) v = mt::reduce(g.b, mt::reduction::sum, v, lost);
    return dims(v) == to ? v : mt::broadcast(g.b, v, to);
  }
  /// `v` reduced and broadcast to the dims `to`.
  mt::value_id fitted(mt::value_id v, mt::shape const& to) {
    mt::shape const lost = mt::without(dims(v), to);
    if (lost.count != 0) v = mt::reduce(g.b, static_cast<mt::reduction>(1 + c_.below(3)), v, lost);
    if (!(dims(v) == to)) v = mt::broadcast(g.b, v, to);
    return c_.one_in(2) ? v : tamed(v);
  }
  void own(mt::node_id n, mt::region_id region) {
    mt::region_id const owned[] = {region};
    g.b.m.nodes[n].regions = g.b.add_links(owned);
  }

  void repeat(int depth) {
    mt::dim_id const over = static_cast<mt::dim_id>(named(c_.one_in(2) ? "d" : "c"));
    mt::id_list<> carries{}, sequences{}, results{};
    for (int n = c_.below(3), i = 0; i < n; ++i)
      if (known const x = any(); !dims(x.value).has(over)) carries.add(maybe_tamed(x));
    for (int n = c_.below(3), i = 0; i < n; ++i)
      if (known const x = any(); dims(x.value).has(over))
        sequences.add(mt::transpose(g.b, tamed(x.value), mt::led_by(over, dims(x.value))));
    if (carries.count + sequences.count == 0) return;
    if (hidden_.has(over)) return;
    int outputs = 0;
    mt::frame f{};
    mt::shape along{};
    inside(along.add(over), [&] {
      g.b.begin_frame(mt::region_kind::body, mt::no_id, over, c_.one_in(2));
      for (int i = 0; i < carries.count; ++i) pool_.push_back({g.b.add_carry(carries.at[i]), 2, 0});
      std::size_t const first = pool_.size() - static_cast<std::size_t>(carries.count);
      for (int i = 0; i < sequences.count; ++i) pool_.push_back({g.b.add_stacked(sequences.at[i]), 2, 0});
      if (c_.one_in(3)) {
        mt::value_id const index = g.b.add(mt::primitive::iteration, {}, mt::dtype::i64, mt::shape{});
        pool_.push_back({mt::cast(g.b, index, f64), 6, 0});
      }
      if (pool_.empty()) pool_.push_back({mt::constant(g.b, 1, f64), 1, 0});
      operations(2 + c_.below(4), depth + 1);
      for (int i = 0; i < carries.count; ++i) results.add(g.b.use(next_carry(first, i, dims(carries.at[i]))));
      for (int n = c_.below(3), i = 0; i < n; ++i)
        if (known const x = any(); !dims(x.value).has(over) && dims(x.value).count < 4)
          results.add(g.b.use(maybe_tamed(x))), ++outputs;
      f = g.b.end_frame(results);
    });
    mt::id_list<> operands{};
    operands.add_all(carries), operands.add_all(f.stacked), operands.add_all(f.invariants);
    mt::node_id const n = g.b.add_node(mt::primitive::repeat, 0, operands);
    mt::loop{over, carries.count, f.stacked.count, 0, c_.one_in(4)}.store(g.b.m.nodes[n]);
    own(n, f.region);
    mt::id_list<> given{};
    for (int i = 0; i < carries.count; ++i) given.add(g.b.add_result(n, f64, dims(carries.at[i])));
    for (int i = 0; i < outputs; ++i)
      given.add(g.b.add_result(n, f64, mt::led_by(over, dims(results.at[carries.count + i]))));
    for (int i = 0; i < given.count; ++i) know(given.at[i], 2, 0);
  }
  // Another value with the carry's dims, perhaps another carry; else the carry itself, perhaps changed a little.
  mt::value_id next_carry(std::size_t first, int i, mt::shape const& s) {
    for (std::size_t k = pool_.size(); k-- > first;)
      if (dims(pool_[k].value) == s && c_.one_in(2)) return maybe_tamed(pool_[k]);
    mt::value_id const self = pool_[first + static_cast<std::size_t>(i)].value;
    return c_.one_in(2) ? self : tamed(mt::add(g.b, self, mt::constant(g.b, 1, f64)));
  }

  // ---- state and results ----

  void declare_state() {
    mt::shape const s = some_dims(c_.below(3));
    char const* labels[] = {"p", "q"};
    for (int i = 0; i < 2; ++i) {
      mt::path_id const path = g.b.add_path(mt::no_id, mt::name::of(labels[i]));
      mt::variable_id const variable = mt::detail::declare(g.b, path, f64, s, mt::constant(i + 1), true);
      mt::value_id const v = mt::detail::read(g.b, variable);
      inputs_.push_back(v), state_.push_back(variable);
      know(v, 2, 0);
    }
  }
  void update(mt::variable_id variable, mt::value_id v) {
    g.b.m.nodes[g.b.add_node(mt::primitive::write, 0, mt::ids(&v, 1), {{variable}})].effect = true;
  }
  void finish() {
    int made = 0;
    auto const output = [&](mt::value_id v) { g.output(("o" + std::to_string(made++)).c_str(), v); };
    for (std::size_t i = pool_.size(); i-- > 0;)
      if (i + 1 == pool_.size() || c_.one_in(3)) output(pool_[i].value);
    if (differentiates_) {
      mt::value_id loss = mt::constant(g.b, 0, f64);
      for (std::size_t i = 0; i < 4 && i < pool_.size(); ++i) {
        mt::value_id const y = pool_[pool_.size() - 1 - i].value;
        loss = mt::add(g.b, mt::scale(g.b, loss, 0.5), mt::reduce(g.b, mt::reduction::sum, y, dims(y)));
      }
      g.output("loss", loss);
      auto const by = mt::detail::record_gradient(g.b, loss, inputs_);
      for (int i = 0; i < by.count; ++i) gradients.push_back("o" + std::to_string(made)), output(by.at[i]);
    }
    for (std::size_t i = 0; i < state_.size(); ++i) {  // from each other, from any value, or unchanged
      mt::shape const& s = g.b.m.variables[state_[i]].dims;
      known x = i == 0 ? any() : pool_[3 + 0];
      for (int k = 0; k < 20 && !(dims(x.value) == s); ++k) x = any();
      if (dims(x.value) == s) update(state_[i], maybe_tamed(x));
    }
  }

  rng c_;
  bool differentiates_, stops_;
  mt::shape hidden_{};
  std::vector<mt::value_id> inputs_, indices_;
  std::vector<mt::variable_id> state_;
  std::vector<known> pool_;
};

}  // namespace property

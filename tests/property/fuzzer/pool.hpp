// SPDX-License-Identifier: Apache-2.0
// The values of a graph that is being generated, with bounds that keep them exact in f64, and its dims.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "property/graph.hpp"

namespace property {

/// The purpose of a graph. `values`: all stay exact, |value| < 2^bits and a multiple of 2^-fraction, so that the order
/// of sums does not matter. `gradients`: outputs the gradient of a loss, too. `derivatives`: the same, without
/// operations for which finite differences see more than the gradient.
enum class purpose { values, gradients, derivatives };

class fuzzer_pool {
 public:
  graph g;

 protected:
  fuzzer_pool(std::uint64_t seed, purpose p)
      : c_{seed}, differentiates_(p != purpose::values), stops_(p != purpose::derivatives) {
    for (char const* label : {"a", "b", "c", "d"}) g.dim(label);
    g.same("e", "a"), g.same("f", "b");
    g.product("m", "a", "b"), g.product("n", "m", "c"), g.sum("s", "a", "e");
  }

  static constexpr auto f64 = mt::dtype::f64;
  struct known {
    mt::value_id value;
    int bits, fraction;
  };

  // ---- dims ----

  mt::shape const& dims(mt::value_id v) const { return g.b.m.values[v].dims; }
  mt::shape const& dims(known const& x) const { return dims(x.value); }
  int named(char const* label) const {
    for (int d = 0; d < g.b.m.dim_count; ++d)
      if (g.b.m.dim_name(d) == mt::name::of(label)) return d;
    return -1;
  }
  mt::dim_id dim(char const* label) const { return static_cast<mt::dim_id>(named(label)); }
  bool has(known const& x, char const* label) const { return named(label) >= 0 && dims(x).has(named(label)); }
  mt::shape some_dims(int count) {
    mt::shape s{};
    while (s.count < count)
      if (int const d = named(std::string(1, "abcd"[c_.below(4)]).c_str()); !s.has(d) && !hidden_.has(d)) s.add(d);
    return s;
  }
  mt::dim_id one_of(mt::shape const& s) { return static_cast<mt::dim_id>(s.at[c_.below(s.count)]); }
  bool is_hidden(mt::shape const& s) const { return mt::without(s, hidden_).count != s.count; }
  /// Whether a value may have these dims: with more it would be too large on eight processors.
  bool fits(mt::shape const& s) const {
    return s.count + (s.has(named("m")) ? 1 : 0) + (s.has(named("n")) ? 2 : 0) <= 4;
  }
  mt::shape shuffled(mt::shape s) {
    for (int i = s.count; i-- > 1;) std::swap(s.at[i], s.at[c_.below(i + 1)]);
    return s;
  }

  // ---- values ----

  known any() { return pool_[static_cast<std::size_t>(c_.below(static_cast<int>(pool_.size())))]; }
  /// Any of those for which a condition holds; the value no_id if there is none.
  template <class F>
  known any_with(F const& holds) {
    std::size_t const first = static_cast<std::size_t>(c_.below(static_cast<int>(pool_.size())));
    for (std::size_t i = 0; i < pool_.size(); ++i)
      if (known const& x = pool_[(first + i) % pool_.size()]; holds(x)) return x;
    return {mt::no_id, 0, 0};
  }
  known any_like(known const& x) {  // any value with no greater bounds
    for (int i = 0; i < 4; ++i)
      if (known const y = any(); y.bits <= 12 && y.fraction <= 12) return y;
    return x;
  }

  void know(mt::value_id v, int bits, int fraction) {
    if (!fits(dims(v))) return;
    if (bits + fraction > (differentiates_ ? 14 : 40)) v = tamed(v), bits = 2, fraction = 0;
    pool_.push_back({v, bits, fraction});
    if (c_.one_in(3)) g.at(c_.one_in(2) ? "op" : "other");
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

  rng c_;
  bool differentiates_, stops_;
  mt::shape hidden_{};  // dims of the loops around, where gradients stack what is inside
  std::vector<mt::value_id> indices_;
  std::vector<known> pool_;
};

}  // namespace property

// SPDX-License-Identifier: Apache-2.0
// Generates graphs at random: any operations, loops, composites and state, with values that stay exact in f64.
#pragma once

#include "property/fuzzer/places.hpp"
#include "property/program_fuzzer.hpp"

namespace property {

/// Generates one graph.
class graph_fuzzer : public fuzzer_places {
 public:
  explicit graph_fuzzer(std::uint64_t seed, purpose p = purpose::values, may_end_early loops = may_end_early::no)
      : fuzzer_places(seed, p), loops_(loops), unneeded_{~seed} {
    for (char const* label : {"x", "y", "z"}) inputs_.push_back(g.input(label, f64, some_dims(1 + c_.below(3))));
    if (c_.one_in(2)) inputs_.push_back(g.input("kernel", f64, kernel_dims()));
    for (mt::value_id x : inputs_) know(x, 2, 0);
    for (char const* label : {"i", "j"}) indices_.push_back(g.input(label, mt::dtype::i32, some_dims(c_.below(3))));
    if (c_.one_in(2)) declare_state();
    operations(4 + c_.below(10), 0);
    finish();
  }

  std::vector<std::string> gradients;  // names of the outputs with the gradients of the loss by x, y, z

 private:
  // ---- operations ----

  void operations(int count, int depth) {
    for (int k = 0; k < count; ++k) operation(depth);
  }
  void operation(int depth) {
    known const x = any(), y = any();
    switch (c_.below(depth < 2 ? 29 : 25)) {
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
      case 12: return part(x);
      case 13: return lookup(x);
      case 14: return made();
      case 15: return scaled(x);
      case 16: return greatest(x);
      case 17:
      case 18: return along(x);
      case 19: return ordered(x);
      case 20: return stacked(x);
      case 21: return stepped(x);
      case 22: return overwritten(x, y);
      case 23: return pooled(x);
      case 24: return convolved(x);
      case 25: return !stops_ || c_.one_in(2) ? composite(depth) : closed_composite(depth);
      default: return repeat(depth);
    }
  }
  // ---- what the loss does not need ----

  /// Whether a region gives one more result, which no loss is computed from.
  bool gives_unneeded() { return differentiates_ && unneeded_.one_in(2); }
  /// Zero, with a derivative by a value that is not finite: it must take no part in a gradient.
  mt::value_id without_derivative(mt::value_id v) {
    if (dims(v).count != 0) v = mt::reduce(g.b, mt::reduction::sum, v, dims(v));
    return mt::elementwise(g.b, mt::function::sqrt, mt::scale(g.b, v, 0));
  }
  mt::value_id any_without_derivative() {
    return without_derivative(pool_[static_cast<std::size_t>(unneeded_.below(static_cast<int>(pool_.size())))].value);
  }
  /// Outputs a result that no loss is computed from, or leaves it unread.
  void maybe_output(mt::value_id unneeded, int depth) {
    if (depth != 0 || unneeded_.one_in(2)) return;
    mt::value_id const y = mt::add(g.b, unneeded, mt::constant(g.b, 1, f64));
    g.output(("unneeded" + std::to_string(outputs_++)).c_str(), y);
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
  void composite(int depth) {
    mt::name_id const label = g.b.intern(mt::name("group"));
    mt::id_list<> operands{}, results{};
    mt::frame f{};
    bool const more = gives_unneeded();
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
      if (more) results.add(any_without_derivative());
      f = g.b.end_frame(results);
    });
    operands.add_all(f.invariants);
    mt::node_id const n = g.b.add_node(mt::primitive::composite, 0, operands, {{label, 2}});
    own(n, f.region);
    mt::value_id given[2];
    for (int i = 0; i < 2; ++i) given[i] = g.b.add_result(n, f64, dims(results.at[i]));
    if (more) maybe_output(g.b.add_result(n, f64, {}), depth);
    for (mt::value_id v : given) know(v, 2, 0);
  }
  // A composite with its own gradient, here any function with the right dims. It uses no values from outside.
  void closed_composite(int depth) {
    mt::name_id const label = g.b.intern(mt::name("closed"));
    known const x = any(), y = any();
    mt::value_id const operands[] = {x.value, y.value};
    mt::id_list<> results{}, terms{};
    mt::region_id regions[2];
    bool const more = gives_unneeded();
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
      if (more) results.add(any_without_derivative());
      regions[0] = g.b.end_frame(results).region;
    });
    shut(mt::region_kind::gradient, [&] {
      mt::id_list<> arguments{};
      for (int i = 0; i < 2 * results.count; ++i) {  // results, then their cotangents
        mt::value const v = g.b.m.values[results.at[i % results.count]];
        arguments.add(g.b.add_argument(v, v.dims));
        g.b.frames[g.b.depth - 1].carries.add(arguments.at[i]);
        if (i % results.count < 2) pool_.push_back({arguments.at[i], 6, 6});
      }
      mt::value_id const first = arguments.at[results.count], second = arguments.at[results.count + 1];
      operations(2, 2);
      for (mt::value_id o : operands) {  // a gradient that uses a result must use its cotangent, too (G35)
        mt::value_id const term = fitted(any().value, dims(o));
        terms.add(mt::add(g.b, mt::add(g.b, term, summed(first, dims(o))), summed(second, dims(o))));
        if (!more) continue;
        mt::value_id const root = arguments.at[2], by_root = mt::divide(g.b, arguments.at[5], root);
        terms.at[terms.count - 1] = mt::add(g.b, terms.at[terms.count - 1], summed(by_root, dims(o)));
      }
      regions[1] = g.b.end_frame(terms).region;
    });
    mt::node_id const n = g.b.add_node(mt::primitive::composite, 0, operands, {{label, 2}});
    g.b.m.nodes[n].regions = g.b.add_links(regions);
    mt::value_id given[2];
    for (int i = 0; i < 2; ++i) given[i] = g.b.add_result(n, f64, dims(results.at[i]));
    if (more) maybe_output(g.b.add_result(n, f64, {}), depth);
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
    bool const ends_early = loops_ == may_end_early::yes && c_.one_in(2);
    bool reversed = ends_early && c_.one_in(4);
    mt::value_id runs = mt::no_id;  // how many iterations are known to run
    if (ends_early) {
      mt::value_id const some = mt::constant(g.b, c_.below(4) - 1, mt::dtype::i64);
      runs = mt::add(g.b, some, mt::cast(g.b, is_small(any().value), mt::dtype::i64));
    }
    bool const more = gives_unneeded(), stacks_more = gives_unneeded();  // a carry and a stack
    mt::value_id const start = more ? any_without_derivative() : mt::value_id{mt::no_id};
    std::vector<known> sums;
    int outputs = 0;
    mt::frame f{};
    mt::shape along{};
    inside(along.add(over), [&] {
      g.b.begin_frame(mt::region_kind::body, mt::no_id, over, c_.one_in(2));
      mt::value_id const counted = ends_early ? g.b.add_carry(runs) : mt::value_id{mt::no_id};
      for (int i = 0; i < carries.count; ++i) pool_.push_back({g.b.add_carry(carries.at[i]), 2, 0});
      std::size_t const first = pool_.size() - static_cast<std::size_t>(carries.count);
      mt::value_id const unneeded = more ? g.b.add_carry(start) : mt::value_id{mt::no_id};
      for (int i = 0; i < sequences.count; ++i) pool_.push_back({g.b.add_stacked(sequences.at[i]), 2, 0});
      if (c_.one_in(3)) {
        mt::value_id const index = g.b.add(mt::primitive::iteration, {}, mt::dtype::i64, mt::shape{});
        pool_.push_back({mt::cast(g.b, index, f64), 6, 0});
      }
      if (pool_.empty()) pool_.push_back({mt::constant(g.b, 1, f64), 1, 0});
      operations(2 + c_.below(4), depth + 1);
      if (ends_early) {
        bool const is_known = reversed || c_.one_in(3);
        mt::value_id const goes_on = is_known ? counted : mt::cast(g.b, is_small(any().value), mt::dtype::i64);
        results.add(is_known ? counted : mt::add(g.b, counted, more ? also_by(unneeded, goes_on) : goes_on));
      }
      for (int i = 0; i < carries.count; ++i) results.add(g.b.use(next_carry(first, i, dims(carries.at[i]))));
      if (more) results.add(mt::add(g.b, without_derivative(unneeded), any_without_derivative()));
      if (c_.one_in(3))
        if (known const x = any(); !dims(x.value).has(over)) results.add(g.b.use(x.value)), sums.push_back(x);
      for (int n = c_.below(3), i = 0; i < n; ++i)
        if (known const x = any(); !dims(x.value).has(over) && dims(x.value).count < 4)
          results.add(g.b.use(maybe_tamed(x))), ++outputs;
      if (stacks_more) results.add(any_without_derivative());
      f = g.b.end_frame(results);
    });
    mt::id_list<> operands{};
    if (ends_early) operands.add(runs);
    operands.add_all(carries);
    if (more) operands.add(start);
    operands.add_all(f.stacked), operands.add_all(f.invariants);
    mt::node_id const n = g.b.add_node(mt::primitive::repeat, 0, operands);
    if (!ends_early) reversed = c_.one_in(4);
    mt::loop{over,      carries.count + more + ends_early, f.stacked.count, static_cast<int>(sums.size()), reversed,
             ends_early}
        .store(g.b.m.nodes[n]);
    own(n, f.region);
    if (ends_early) g.b.add_result(n, mt::dtype::i64, mt::shape{});
    mt::id_list<> given{};
    for (int i = 0; i < carries.count; ++i) given.add(g.b.add_result(n, f64, dims(carries.at[i])));
    mt::id_list<> unneeded{};
    if (more) unneeded.add(g.b.add_result(n, f64, {}));
    int const before = carries.count + static_cast<int>(sums.size());
    for (known const& x : sums) given.add(g.b.add_result(n, f64, dims(x)));
    for (int i = 0; i < outputs; ++i)
      given.add(g.b.add_result(n, f64, mt::led_by(over, dims(results.at[before + more + ends_early + i]))));
    if (stacks_more) unneeded.add(g.b.add_result(n, f64, mt::led_by(over, mt::shape{})));
    for (mt::value_id v : mt::ids(unneeded)) maybe_output(v, depth);
    for (int i = 0; i < given.count; ++i) {
      bool const is_sum = i >= carries.count && i < before;
      known const x = is_sum ? sums[static_cast<std::size_t>(i - carries.count)] : known{mt::no_id, 2, 0};
      know(given.at[i], x.bits + (is_sum ? 5 : 0), x.fraction);
    }
  }
  /// Whether a value's largest element is less than 1.
  mt::value_id is_small(mt::value_id v) {
    mt::value_id const largest = dims(v).count == 0 ? v : mt::reduce(g.b, mt::reduction::max, v, dims(v));
    return mt::elementwise(g.b, mt::function::less, g.b.use(largest), mt::constant(g.b, 1, f64));
  }
  /// `goes_on`, which is 0 or 1, as a condition that reads a number that is zero, too.
  mt::value_id also_by(mt::value_id zero, mt::value_id goes_on) {
    return mt::multiply(g.b, goes_on, mt::cast(g.b, is_small(zero), mt::dtype::i64));
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

  may_end_early loops_;
  rng unneeded_;  // by itself, so that all else is the same without
  int outputs_ = 0;
  std::vector<mt::value_id> inputs_;
  std::vector<mt::variable_id> state_;
};

/// Whether loops of a seed's graph may end early: one in three.
inline may_end_early loops_of(std::uint64_t seed) { return seed % 3 == 0 ? may_end_early::yes : may_end_early::no; }

/// The dims that a layout may name: those of its values, but not the library's own.
inline std::vector<mt::name> dims_for_layouts(mt::module const& m) {
  bool used[mt::max_dims] = {};
  for (int v = 0; v < m.value_count; ++v)
    for (int i = 0; i < m.values[v].dims.count; ++i) used[m.values[v].dims.at[i]] = true;
  std::vector<mt::name> all;
  for (int d = 0; d < m.dim_count; ++d)
    if (used[d] && m.dims[d].kind != mt::dim_row::same) all.push_back(m.dim_name(d));
  return all;
}

}  // namespace property

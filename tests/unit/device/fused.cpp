// SPDX-License-Identifier: Apache-2.0
// Kernels made at random, of every dtype and function, over extents around the widths of registers and blocks: fused
// and interpreted against the rules' plain loops. What is no sum must be the same bit for bit.
//
// needs: cpu
// arch: baseline native
// timeout: 300
#include <doctest/doctest.h>

#include <cstdlib>

#include "meshtensor/array/interpret.hpp"
#include "meshtensor/device/cpu/device.hpp"
#include "meshtensor/emit/print.hpp"
#include "meshtensor/pass/lower.hpp"
#include "meshtensor/run/session.hpp"
#include "property/graph.hpp"
#include "support/fused.hpp"

namespace {

namespace mt = meshtensor;
using meshtensor_test::rng;
using mt::dtype;
using mt::function;

class maker {
 public:
  explicit maker(std::uint64_t seed) : c_{seed} {
    for (char const* label : {"a", "b", "c"}) dims_.push_back(g.dim(label));
    constexpr dtype types[] = {dtype::f32, dtype::f32, dtype::f64, dtype::bf16,
                               dtype::i32, dtype::i64, dtype::u8,  dtype::boolean};
    dtype const main_type = types[c_.below(8)];
    for (int i = 0; i < 4; ++i)
      add(g.input(std::string(1, static_cast<char>('p' + i)).c_str(), c_.one_in(4) ? types[c_.below(8)] : main_type,
                  some_dims()),
          true);
    for (int n = 3 + c_.below(40), i = 0; i < n; ++i) step();
    for (int i = 0; i < 6; ++i) {
      known const& k = i < 3 ? pool_[pool_.size() - 1 - static_cast<std::size_t>(i)] : any();
      std::string const label = "o" + std::to_string(i);
      g.output(label.c_str(), k.value);
      outputs.push_back({label, k.exact});
    }
  }

  property::graph g;
  struct output {
    std::string label;
    bool exact;
  };
  std::vector<output> outputs;

 private:
  struct known {
    mt::value_id value;
    bool exact;  // no sum of rounded numbers is part of it
  };
  dtype type_of(mt::value_id v) const { return g.b.m.values[v].type; }
  mt::shape const& dims_of(mt::value_id v) const { return g.b.m.values[v].dims; }
  void add(mt::value_id v, bool exact) { pool_.push_back({v, exact}); }
  known const& any() { return pool_[static_cast<std::size_t>(c_.below(static_cast<int>(pool_.size())))]; }
  /// Something of a dtype, cast if need be.
  known of_type(dtype t) {
    for (int i = 0; i < 6; ++i)
      if (known const k = any(); type_of(k.value) == t) return k;
    known const k = any();
    return {casted(k, t), k.exact};
  }
  mt::value_id casted(known const& k, dtype t) { return type_of(k.value) == t ? k.value : mt::cast(g.b, k.value, t); }
  mt::shape some_dims() {
    mt::shape s{};
    int const first = c_.below(3);
    for (int i = 0; i < 3; ++i)
      if (!c_.one_in(4)) s.add(dims_[static_cast<std::size_t>(c_.one_in(8) ? (first + i) % 3 : i)]);
    mt::shape once{};
    for (int i = 0; i < s.count; ++i)
      if (!once.has(s.at[i])) once.add(s.at[i]);
    return once;
  }

  void step() {
    known const x = any();
    dtype const t = type_of(x.value);
    switch (c_.below(16)) {
      case 0:
      case 14: return reduction(x);
      case 1: {
        auto const kind = static_cast<mt::distribution>(c_.below(2));
        return add(mt::random(g.b, kind, mt::is_float(t) ? t : dtype::f32, some_dims()), true);
      }
      case 2: {
        mt::dim_id const d = dims_[static_cast<std::size_t>(c_.below(3))];
        return add(mt::iota(g.b, d, t == dtype::boolean || t == dtype::u8 || t == dtype::bf16 ? dtype::i32 : t), true);
      }
      case 3: {
        mt::shape const more = mt::united(dims_of(x.value), some_dims());
        if (!(more == dims_of(x.value))) add(mt::broadcast(g.b, x.value, more), x.exact);
        return;
      }
      case 4: {
        mt::shape transposed{};
        for (int i = dims_of(x.value).count; i-- > 0;) transposed.add(dims_of(x.value).at[i]);
        return add(mt::transpose(g.b, x.value, transposed), x.exact);
      }
      case 5: {
        constexpr dtype types[] = {dtype::f32, dtype::f64, dtype::bf16,   dtype::i32,
                                   dtype::i64, dtype::u8,  dtype::boolean};
        dtype const to = types[c_.below(7)];
        if (!x.exact && !mt::is_float(to)) return;
        return add(casted(x, to), x.exact && to != dtype::boolean ? true : x.exact);
      }
      case 6: {
        known const c = of_type(dtype::boolean), y = of_type(t);
        return add(mt::select(g.b, c.value, x.value, y.value), x.exact && y.exact && c.exact);
      }
      case 7: {
        known const y = of_type(t);
        if (!x.exact || !y.exact) return;  // a rounding error would decide
        auto const f = static_cast<function>(static_cast<int>(function::equal) + c_.below(4));
        return add(mt::elementwise(g.b, f, x.value, y.value), true);
      }
      case 8:
      case 9:
      case 10: return unary(x, t);
      default: return binary(x, t);
    }
  }
  template <std::size_t N>
  function one_of(function const (&list)[N]) {
    return list[c_.below(static_cast<int>(N))];
  }
  void unary(known const& x, dtype t) {
    if (t == dtype::boolean) return add(mt::elementwise(g.b, function::logical_not, x.value), x.exact);
    constexpr function smooth[] = {function::copy, function::negate, function::abs, function::tanh, function::sigmoid,
                                   function::erf,  function::relu,   function::sin, function::cos};
    constexpr function others[] = {function::exp,   function::log,  function::sqrt,
                                   function::rsqrt, function::sign, function::floor};
    constexpr function whole[] = {function::copy, function::negate, function::abs, function::sign, function::relu};
    function const f = !mt::is_float(t) ? one_of(whole) : x.exact && c_.one_in(2) ? one_of(others) : one_of(smooth);
    add(mt::elementwise(g.b, f, x.value), x.exact);
  }
  void binary(known const& x, dtype t) {
    known const y = of_type(t);
    bool const exact = x.exact && y.exact;
    if (t == dtype::boolean)
      return add(mt::elementwise(g.b, c_.one_in(2) ? function::logical_and : function::logical_or, x.value, y.value),
                 exact);
    constexpr function smooth[] = {function::add, function::subtract, function::maximum, function::minimum};
    constexpr function all[] = {function::add,    function::subtract, function::multiply, function::divide,
                                function::modulo, function::maximum,  function::minimum,  function::power};
    mt::value_id v = mt::elementwise(g.b, exact ? one_of(all) : one_of(smooth), x.value, y.value);
    if (!exact) v = mt::multiply(g.b, v, mt::constant(g.b, 0.5, t));
    add(v, exact);
  }
  void reduction(known const& x) {
    mt::shape along{};
    for (int i = 0; i < dims_of(x.value).count; ++i)
      if (c_.one_in(2)) along.add(dims_of(x.value).at[i]);
    if (along.count == 0) return;
    dtype const t = type_of(x.value);
    auto kind = static_cast<mt::reduction>(1 + c_.below(3));
    if (t == dtype::boolean && kind == mt::reduction::sum) kind = mt::reduction::max;
    mt::value_id v = x.value;
    bool const rounds = kind == mt::reduction::sum && mt::is_float(t);
    if (rounds) v = mt::elementwise(g.b, function::sin, mt::elementwise(g.b, function::tanh, v));
    v = mt::reduce(g.b, kind, v, along);
    if (rounds) v = mt::multiply(g.b, v, mt::constant(g.b, 0.001, t));
    add(v, x.exact && !rounds);
  }

  rng c_;
  std::vector<mt::dim_id> dims_;
  std::vector<known> pool_;
};

constexpr std::int64_t extents[] = {1, 2, 3, 5, 8, 15, 16, 17, 33, 64, 100, 255, 257, 300, 520, 1030};

void try_kernel(std::uint64_t seed, long& kernels, long& exact) {
  maker const made(seed);
  rng c{seed + 77};
  std::vector<mt::dim_extent> sizes;
  std::int64_t room = 20000;
  for (int d = made.g.module().dim_count; d-- > 0;) {
    std::int64_t e = extents[c.below(16)];
    while (e > room) e /= 2;
    if (e < 1) e = 1;
    room /= e;
    sizes.push_back({made.g.module().dim_name(d), e});
  }
  auto const simple = mt::on_heap([&] { return mt::partition(made.g.module(), mt::mesh_shape{}, mt::layout_rules{}); });
  REQUIRE(simple->report.empty());
  auto const fused = mt::on_heap([&] { return meshtensor_test::fused(*simple, mt::cpu_device::capabilities); });
  REQUIRE_MESSAGE(mt::verify(*fused).empty(), std::string(mt::verify(*fused).view()));
  auto const bound = mt::on_heap([&] { return mt::bind(*fused, mt::mesh_shape{}, sizes); });
  REQUIRE(bound->ok());
  auto const planned = mt::on_heap([&] { return mt::plan_memory(*fused, 0, *bound); });
  for (int i = 0; i < fused->node_count; ++i) kernels += fused->nodes[i].kind == mt::primitive::kernel;

  mt::blocks inputs, variables;
  for (int i = 0; i < simple->node_count; ++i) {
    mt::node const& n = simple->nodes[i];
    if (n.kind != mt::primitive::input) continue;
    mt::value const& v = simple->result_value(n);
    mt::block b(v.type, v.dims, *bound);
    for (std::int64_t k = 0; k < b.size(); ++k) {
      double const unit = static_cast<double>(c.next() >> 11) / 9007199254740992.0;
      b.set(k, mt::is_float(v.type)       ? 4 * unit - 2
               : v.type == dtype::boolean ? c.below(2)
               : v.type == dtype::u8      ? c.below(20)
                                          : c.below(40) - 20);
    }
    inputs[simple->names[n.attribute[0]].text()] = std::move(b);
  }
  mt::blocks const expected = mt::interpreter(*simple, *bound).run(0, inputs, variables, mt::settings{});
  auto const job = mt::job::in_lockstep();
  mt::store values(job);
  mt::session<mt::cpu_device> run(values, *fused, *planned, mt::mesh_shape{}, 0, mt::cpu_device(1 + c.below(3)));
  for (auto const& [label, b] : inputs) run.feed(label, b.data());
  run.step();
  for (auto const& o : made.outputs) {
    mt::block const& whole = expected.at(o.label);
    double const tolerance = o.exact                      ? 0
                             : whole.type() == dtype::f64 ? 1e-10
                             : whole.type() == dtype::f32 ? 1e-4
                                                          : 0.05;
    exact += o.exact;
    auto const d = meshtensor_test::difference(run.local(o.label), whole, tolerance);
    if (!d.empty()) {
      std::string text;
      for (auto const& s : sizes) text += s.label.text() + "=" + std::to_string(s.extent) + " ";
      FAIL("output " << o.label << std::string(o.exact ? " (exact): " : ": ") << d << "\n"
                     << text << "\n"
                     << mt::text_of(*fused));
    }
  }
}

}  // namespace

TEST_CASE("kernels made at random") {
  std::uint64_t count = property::share_of(600), first = property::first_in_sample(1, 600);
  if (char const* one = std::getenv("SEED")) first = std::strtoull(one, nullptr, 10), count = 1;
  long kernels = 0, exact = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    INFO("SEED=" << seed);
    try_kernel(seed, kernels, exact);
  }
  MESSAGE(kernels << " kernels, " << exact << " of " << 6 * count << " outputs bit for bit");
}

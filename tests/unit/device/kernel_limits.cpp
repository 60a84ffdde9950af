// SPDX-License-Identifier: Apache-2.0
// The largest kernels: one of as many values as a kernel may have gives the bits of the plain loops, one of more is
// refused, and the passes cut what is larger in two.
//
// passes: start-up
// needs: cpu
#include <doctest/doctest.h>

#include "meshtensor/array/interpret.hpp"
#include "meshtensor/device/cpu/device.hpp"
#include "meshtensor/pass/lower.hpp"
#include "meshtensor/run/session.hpp"
#include "property/graph.hpp"
#include "support/compare.hpp"
#include "support/folder.hpp"
#include "support/fused.hpp"

namespace {

namespace mt = meshtensor;
using mt::dtype;

mt::dim_extent const sizes[] = {{"a", 3}, {"b", 5}, {"c", 37}};

/// x and y of [a, b, c], where x is transposed so many times before it is multiplied with y. The last dim stays, so
/// that each transpose is only another way to read x, and belongs to the kernel.
struct transposed {
  explicit transposed(int times) {
    mt::value_id x = g.input("x", dtype::f32, "abc");
    mt::value_id const y = g.input("y", dtype::f32, times % 2 == 0 ? "abc" : "bac");
    for (int i = 0; i < times; ++i) x = mt::transpose(g.b, x, g.dims(i % 2 == 0 ? "bac" : "abc"));
    g.output("z", mt::multiply(g.b, x, y));
  }
  property::graph g;
};

/// v ← v · r + s, for so many different rows r and s, which are repeated along a and b.
struct long_chain {
  explicit long_chain(int steps) {
    mt::value_id v = g.input("x", dtype::f32, "abc");
    std::vector<mt::value_id> rows;
    for (int i = 0; i < 20; ++i) rows.push_back(g.input(("r" + std::to_string(i)).c_str(), dtype::f32, "c"));
    for (int i = 0; i < steps; ++i) {
      mt::value_id const r = mt::broadcast(g.b, rows[static_cast<std::size_t>(i % 20)], g.dims("abc"));
      v = i % 2 == 0 ? mt::multiply(g.b, v, r) : mt::add(g.b, v, r);
    }
    g.output("z", v);
  }
  property::graph g;
};

mt::blocks inputs_of(mt::module const& m, mt::binding const& bound) {
  mt::blocks all;
  for (int i = 0; i < m.node_count; ++i) {
    if (m.nodes[i].kind != mt::primitive::input) continue;
    mt::value const& v = m.result_value(m.nodes[i]);
    mt::block b(v.type, v.dims, bound);
    for (std::int64_t k = 0; k < b.size(); ++k) b.set(k, 0.9 + 0.01 * static_cast<double>((7 * k + 3 * i) % 23));
    all[m.names[mt::name_of(m.nodes[i])].text()] = std::move(b);
  }
  return all;
}
/// Runs `fused` on the cpu device, and checks that `z` has the bits that plain loops give for `g`.
void check_bits(property::graph const& g, mt::module const& fused) {
  auto const whole = mt::on_heap([&] { return mt::bind(g.module(), mt::mesh_shape{}, sizes); });
  auto const bound = mt::on_heap([&] { return mt::bind(fused, mt::mesh_shape{}, sizes); });
  REQUIRE(whole->ok());
  REQUIRE(bound->ok());
  auto const planned = mt::on_heap([&] { return mt::plan_memory(fused, 0, *bound); });
  mt::blocks variables;
  mt::blocks const inputs = inputs_of(g.module(), *whole);
  mt::blocks const expected = mt::interpreter(g.module(), *whole).run(0, inputs, variables, mt::settings{});
  auto const job = mt::job::in_lockstep();
  mt::store values(job);
  mt::session<mt::cpu_device> run(values, fused, *planned, mt::mesh_shape{}, 0, mt::cpu_device(2));
  for (auto const& [label, b] : inputs) run.feed(label, b.data());
  run.step();
  std::string const differs = meshtensor_test::difference(run.local("z"), expected.at("z"));
  CHECK_MESSAGE(differs.empty(), differs);
}

/// The number of values in each kernel.
std::vector<int> values_of_kernels(mt::module const& m) {
  std::vector<int> all;
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == mt::primitive::kernel)
      all.push_back(static_cast<int>(std::count_if(m.values, m.values + m.value_count, [&](mt::value const& v) {
        return v.region == m.region_of(m.nodes[i], 0);
      })));
  return all;
}
std::unique_ptr<mt::module> fused_alone(property::graph const& g) {
  return mt::on_heap([&] { return meshtensor_test::fused(g.module(), mt::cpu_device::capabilities); });
}
std::unique_ptr<mt::lowering> lowered(property::graph const& g) {
  return mt::lower(g.module(), "main", mt::mesh_shape{}, mt::layout_rules{}, sizes, mt::cpu_device::capabilities);
}

constexpr int most = mt::detail::kernel_reader::most_values;
constexpr int others = 3;  // x, y and their product

}  // namespace

TEST_CASE("a kernel of as many values as one may have") {
  static_assert(most == 192);
  transposed const made(most - others);
  auto const fused = fused_alone(made.g);
  REQUIRE(values_of_kernels(*fused) == std::vector{most});
  check_bits(made.g, *fused);
}

TEST_CASE("a kernel of one value more is refused") {
  transposed const made(most - others + 1);
  auto const fused = fused_alone(made.g);
  REQUIRE(values_of_kernels(*fused) == std::vector{most + 1});
  for (int i = 0; i < fused->node_count; ++i)
    if (fused->nodes[i].kind == mt::primitive::kernel)
      CHECK_THROWS_WITH_AS(mt::read_kernel(*fused, fused->nodes[i]),
                           "meshtensor G24: one kernel has more than 192 values", mt::error);
}

TEST_CASE("the passes leave no kernel so many") {
  for (int const times : {most - others, most - others + 1, 400}) {
    transposed const made(times);
    auto const low = lowered(made.g);
    for (int const values : values_of_kernels(low->graph)) CHECK(values <= 4);
    check_bits(made.g, low->graph);
  }
}

TEST_CASE("what is larger than a kernel is cut") {
  for (int const steps : {mt::max_kernel_steps, mt::max_kernel_steps + 1, 500}) {
    INFO(steps << " operations");
    long_chain const made(steps);
    auto const low = lowered(made.g);
    std::vector<int> const values = values_of_kernels(low->graph);
    CHECK(static_cast<int>(values.size()) * mt::max_kernel_steps >= steps);
    CHECK(values.size() >= 2);  // more than 16 rows, too
    CHECK(*std::max_element(values.begin(), values.end()) <= 160);
    check_bits(made.g, low->graph);
  }
}

TEST_CASE("attention of a dtype that the compiled kernels leave out is refused") {
  auto const m = mt::on_heap([] { return mt::module{}; });
  mt::node const n{};
  mt::view operand{};
  operand.type = dtype::i32;
  CHECK(meshtensor_test::sentence([&] { mt::cpu::make_attention<mt::cpu::mask_of(dtype::f32)>(*m, n, &operand, 1); }) ==
        "meshtensor R31: attention of i32 has no kernel here");
}

// SPDX-License-Identifier: Apache-2.0
// Attention and its gradients run whole by the cpu device: as the oracle has them, for every form, length, layout,
// dtype and number of threads; and left to kernels and products, the same.
//
// passes: start-up
// needs: cpu
// arch: baseline native
// timeout: 300
#include "unit/device/attending.hpp"

using namespace attending;

TEST_CASE("f32") { hold<attends<mt::dtype::f32, false>>(1e-4); }
TEST_CASE("f32, causal") { hold<attends<mt::dtype::f32, true>>(1e-4); }
TEST_CASE("f64, causal") { hold<attends<mt::dtype::f64, true>>(1e-12); }
TEST_CASE("bf16, causal") { hold<attends<mt::dtype::bf16, true>>(0.03); }
TEST_CASE("dims in other orders, a dim of its own for values") { hold<attends<mt::dtype::f64, false, true>>(1e-12); }

/// A composite of the program's own, with the form of attention and another meaning.
struct namesake {
  static constexpr char const* inputs[] = {"q", "k", "v", "weights"};
  static constexpr char const* outputs[] = {"y", "dq", "dk", "dv"};
  constexpr void operator()(mt::scope auto s) const {
    auto const q = s.input("q", mt::f64, batch, length, heads, head);
    auto const k = s.input("k", mt::f64, batch, memory, heads, head);
    auto const v = s.input("v", mt::f64, batch, memory, heads, head);
    auto const [y, total] = mt::composite_with_gradient(
        "attention",
        [](auto a, auto b, auto c) {
          auto const scores = einsum(a, b, mt::to(batch, length, heads, memory));
          return std::tuple(einsum(scores, c, mt::to(batch, length, heads, head)), sum(scores, memory));
        },
        [](auto a, auto b, auto c, auto, auto, auto dy, auto d_total) {
          auto const scores = einsum(a, b, mt::to(batch, length, heads, memory));
          auto const gradients = einsum(dy, c, mt::to(batch, length, heads, memory)) + d_total;
          return std::tuple(einsum(gradients, b, mt::to(batch, length, heads, head)),
                            einsum(gradients, a, mt::to(batch, memory, heads, head)),
                            einsum(scores, dy, mt::to(batch, memory, heads, head)));
        },
        q, k, v);
    auto const weights = s.input("weights", mt::f64, batch, length, heads);
    auto const [dq, dk, dv] = mt::gradient(sum(y * weights) + sum(total), q, k, v);
    s.output("y", y), s.output("dq", dq), s.output("dk", dk), s.output("dv", dv);
  }
};

TEST_CASE("a composite of the same name is the program's own") {
  subject<namesake> s({2, 5, 3, 3, 7});
  CHECK(s.fault({}, {}, 1, true, 1e-12) == "");
  CHECK(s.composites() == 0);
}

TEST_CASE("bf16, scores whose logarithm is too coarse in bf16") {
  subject<attends_to_equals> s(equals);
  CHECK(has_weights_of_equals(s.expected("dv")));
  CHECK(s.fault({}, {}, 1, true, 0.01) == "");
  CHECK(s.composites() == 2);
}

TEST_CASE("scores of any size") {
  for (double largest : {1e4, 1e-40}) {
    CHECK(subject<attends<mt::dtype::f32, true>>({1, 70, 70, 2, 8}, largest).fault({}, {}, 1, true, 1e-2) == "");
    CHECK(subject<attends<mt::dtype::f64, false>>({1, 70, 70, 2, 8}, largest).fault({}, {}, 1, true, 1e-9) == "");
  }
}

TEST_CASE("under every layout; where parts must be brought together within, by kernels and products") {
  subject<attends<mt::dtype::f64, true>> s({2, 12, 12, 6, 4});
  int whole = 0, half = 0, other = 0;
  for (std::int64_t size : {2, 3}) {
    mt::mesh_shape mesh{};
    mesh.add("ax", size);
    meshtensor_test::each_assignment({"batch", "length", "memory", "heads", "head"}, mesh, [&](auto const& rules) {
      CAPTURE(meshtensor_test::text_of(rules));
      try {
        auto const fault = s.fault(mesh, rules, 1, true, 1e-12);
        CHECK(fault == "");
        ++(s.composites() == 2 ? whole : s.composites() == 1 ? half : other);
      } catch (mt::error const& e) { CHECK(e.code() == "S05"); }
    });
  }
  CHECK(whole == 8);  // nothing spread; batch, length, heads
  CHECK(half == 2);   // memory: each processor has the gradients by its keys
  CHECK(other == 2);  // head
}

/// Dense memory of a value of attention, full of one number. Extents by the dims' names.
struct filled {
  mt::view of{};
  std::vector<double> memory;
  filled(mt::module const& m, mt::value const& v, sizes const& z, double number) : memory(1000, number) {
    of.type = v.type, of.count = v.dims.count, of.data = memory.data();
    for (int i = 0; i < of.count; ++i) {
      of.dim[i] = v.dims.at[i], of.extent[i] = 1;
      for (auto const& [label, extent] : z.list())
        if (m.dim_name(v.dims.at[i]) == label) of.extent[i] = extent;
    }
    of.densify();
  }
};

TEST_CASE("a rank without queries or keys writes what adds nothing") {
  using program = attends<mt::dtype::f64, false>;
  sizes const some{2, 3, 3, 2, 4};
  auto const low = mt::lower(mt::detail::traced<program>, mt::entry_name<program>(), {}, {}, some.list(),
                             mt::cpu_device::capabilities);
  mt::module const& m = low->graph;
  int kernels = 0;
  for (int n = 0; n < m.node_count; ++n)
    for (sizes const& z : {sizes{2, 0, 3, 2, 4}, sizes{2, 3, 0, 2, 4}}) {
      mt::node const& node = m.nodes[n];
      if (!mt::cpu::is_attention(m, node)) continue;
      ++kernels;
      std::vector<filled> values;
      std::vector<mt::view> operands, results;
      values.reserve(16);
      for (int i = 0; i < node.operands.count; ++i)
        operands.push_back(values.emplace_back(m, m.operand_value(node, i), z, 0.5).of);
      for (int i = 0; i < node.results.count; ++i)
        results.push_back(values.emplace_back(m, m.values[m.result(node, i)], z, 99).of);
      mt::cpu::attention<double, double> kernel(m, node, operands.data(), 1);
      std::vector<double> workspace(static_cast<std::size_t>(kernel.workspace_bytes()) / 8 + 16);
      mt::cpu::thread_team team(1);
      mt::run_context const context{};
      kernel.run({m, node, operands.data(), results.data(), context}, reinterpret_cast<std::byte*>(workspace.data()),
                 team);
      bool const is_forward = node.results.count == 2;
      for (std::size_t r = 0; r < results.size(); ++r)
        for (std::int64_t i = 0; i < results[r].size(); ++i)
          REQUIRE(results[r].as<double>()[i] == (is_forward && r == 1 ? mt::least_finite<double> : 0.0));
    }
  CHECK(kernels == 4);
}

TEST_CASE("more ranks than queries, keys, heads or examples") {
  subject<attends<mt::dtype::f64, true>> s({2, 2, 2, 2, 3});
  mt::mesh_shape mesh{};
  mesh.add("ax", 3);
  meshtensor_test::each_assignment({"batch", "length", "memory", "heads"}, mesh, [&](auto const& rules) {
    CAPTURE(meshtensor_test::text_of(rules));
    try {
      CHECK(s.fault(mesh, rules, 1, true, 1e-12) == "");
    } catch (mt::error const& e) { CHECK(e.code() == "S05"); }
  });
}

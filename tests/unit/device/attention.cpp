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

template <class Program>
void hold_without_elements(double tolerance) {
  subject<Program> s({2, 2, 2, 2, 3});
  mt::mesh_shape mesh{};
  mesh.add("ax", 3);
  meshtensor_test::each_assignment({"batch", "length", "memory", "heads"}, mesh, [&](auto const& rules) {
    CAPTURE(meshtensor_test::text_of(rules));
    try {
      auto const fault = s.fault(mesh, rules, 1, true, tolerance);
      CHECK(fault == "");
    } catch (mt::error const& e) { CHECK(e.code() == "S05"); }
  });
}

TEST_CASE("a rank without queries, keys, heads or examples adds nothing") {
  hold_without_elements<attends<mt::dtype::f64, false>>(1e-12);
  hold_without_elements<attends<mt::dtype::f64, true>>(1e-12);
  hold_without_elements<attends<mt::dtype::f32, false>>(1e-4);
  hold_without_elements<attends<mt::dtype::bf16, true>>(0.05);
  hold_without_elements<attends_to_some<mt::dtype::f64, batch, length>>(1e-12);
}

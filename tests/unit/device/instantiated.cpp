// SPDX-License-Identifier: Apache-2.0
// Kernels with code of their own against the same kernels interpreted: the same bits, in every program here.
// needs: cpu
// arch: baseline native
// timeout: 300
#include <doctest/doctest.h>

#include "meshtensor/device/cpu/device.hpp"
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/activation.hpp"
#include "meshtensor/pass/lower.hpp"
#include "meshtensor/run/session.hpp"
#include "support/compare.hpp"

namespace {

namespace mt = meshtensor;
using mt::to;

inline constexpr struct tall_dim : mt::dim<"tall", 5000> {} tall;
inline constexpr struct narrow_dim : mt::dim<"narrow", 3> {} narrow;
inline constexpr struct stretch_dim : mt::dim<"stretch", 70000> {} stretch;
inline constexpr struct batch_t : mt::dim<"batch", 6> {} batch;
inline constexpr struct length_t : mt::dim<"length", 10> {} length;
inline constexpr struct memory_t : mt::dim<"memory", 10> {} memory;
inline constexpr struct width_t : mt::dim<"width", 70> {} width;
inline constexpr struct vocab_t : mt::dim<"vocab", 1100> {} vocab;
inline constexpr struct long_t : mt::dim<"long", 10007> {} wide;

/// Norms, activations, a loss over a vector of several blocks, gradients, dropout and Adam.
struct train {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, length, width);
    auto next = s.input("next", mt::i32, batch, length);
    auto h = mt::nn::layer_norm(s / "norm", x, width);
    h = mt::gelu(mt::nn::dropout(s / "drop", h, s.number("rate", 0.2)));
    auto logits = einsum(h, s.parameter("w", width, vocab), to(batch, length, vocab));
    auto loss = mean(mt::nn::cross_entropy(logits, next, vocab));
    mt::adam{.learning_rate = 1e-2}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
    s.output("h", h);
  }
};

/// Causal attention weights, reductions over rows and over everything, positions.
struct rows {
  constexpr void operator()(mt::scope auto s) const {
    auto scores = s.input("scores", s.real(), batch, length, memory);
    auto weights = softmax(mt::causal(scores, length, memory), memory);
    s.output("weights", weights);
    s.output("over", sum(weights * scores, batch));
    s.output("over_rows", sum(scores, batch, length));
    s.output("total", sum(exp(scores)));
    s.output("greatest", max(abs(scores), length));
    s.output("turned", transpose(scores * 2, to(memory, batch, length)) + 1);
    s.output("spread", broadcast(sum(scores, length, memory), to(batch, width)));
  }
};

/// Integers, bools, casts, and a vector cut into segments.
struct mixed {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("long_x", mt::f32, wide);
    auto k = s.input("long_k", mt::i32, wide);
    auto index = iota(s, wide, mt::i32);
    auto near = (k <= index % 7) && !(x < 0);
    auto y = select(near, mt::cast<mt::dtype::f32>(k * 3 - index / 2), x * 0.5);
    s.output("y", y);
    s.output("narrow", mt::cast<mt::dtype::bf16>(y) * mt::cast<mt::dtype::bf16>(x) + 0.25);
    s.output("byte", mt::cast<mt::dtype::u8>(abs(tanh(x)) * 200) + mt::cast<mt::dtype::u8>(near));
    s.output("double", sqrt(abs(mt::cast<mt::dtype::f64>(y))) + mt::cast<mt::dtype::f64>(k));
    s.output("sum", mt::sum(y));
    s.output("any", mt::any(near));
    s.output("noise", normal(s, mt::f32, to(wide)) + uniform(s, mt::f32, to(wide)));
    s.output("half noise", uniform(s, mt::bf16, to(wide)));
    s.output("more half noise", normal(s, mt::bf16, to(wide)) * 2);
  }
};

/// Sums so long that they have several levels: over rows of one number and of several, along a vector, over everything.
struct long_sums {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), tall, narrow);
    auto y = s.input("y", s.real(), narrow, stretch);
    s.output("over", sum(x * x, tall));
    s.output("over rows", sum(exp(sum(x, narrow)), tall));
    s.output("along", sum(y * 2, stretch));
    s.output("centred", y - mean(y, stretch));
    s.output("total", sum(exp(x)));
    s.output("total of rows", sum(y * sum(y, stretch)));
  }
};

struct mesh : mt::mesh<> {};
struct layout : mt::layout<> {};

template <class Program>
std::map<std::string, mt::block> outcome(mt::cpu_device device, int steps, int& own) {
  using stages = mt::lowered<Program, Program, mesh, layout, mt::cpu_device>;
  static_assert(mt::verify(stages::graph).empty());
  constexpr auto const& m = stages::graph;
  auto const job = mt::job::in_lockstep();
  mt::store values(job);
  mt::session<mt::cpu_device> run(values, m, stages::planned, mt::mesh_shape{}, 0, std::move(device));
  for (int i = 0; i < m.node_count; ++i) {
    mt::node const& n = m.nodes[i];
    own += n.kind == mt::primitive::kernel;
    if (n.kind != mt::primitive::input) continue;
    mt::value const& v = m.result_value(n);
    mt::block b(v.type, v.dims, stages::bound);
    for (std::int64_t k = 0; k < b.size(); ++k)
      b.set(k,
            mt::is_float(v.type) ? std::sin(static_cast<double>(k * 7 % 1013)) * 1.5 : static_cast<double>(k * 5 % 19));
    run.feed(m.names[n.attribute[0]].text(), b.data());
  }
  std::map<std::string, mt::block> all;
  for (int t = 0; t < steps; ++t) run.step();
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == mt::primitive::output) {
      std::string const label = m.names[m.nodes[i].attribute[0]].text();
      all.emplace(label, run.whole(label));
    }
  return all;
}

template <class Program>
void compare(int steps = 1) {
  using stages = mt::lowered<Program, Program, mesh, layout, mt::cpu_device>;
  constexpr mt::cpu::code own = mt::cpu::code::of<stages::graph>();
  int kernels = 0, again = 0;
  auto const interpreted = outcome<Program>(mt::cpu_device(1), steps, kernels);
  auto const instantiated = outcome<Program>(mt::cpu_device(own, 1), steps, again);
  CHECK(own.kernels.count == kernels);
  CHECK(kernels > 0);
  auto const alike = [](auto const& one, auto const& other) {
    for (auto const& [label, b] : one) {
      auto const d = meshtensor_test::difference(other.at(label).window(), b);
      CHECK_MESSAGE(d.empty(), label << ": " << d);
    }
  };
  alike(interpreted, instantiated);
  // By themselves, for a library's product may round otherwise in three parts than in one.
  alike(outcome<Program>(mt::cpu_device(3), steps, again), outcome<Program>(mt::cpu_device(own, 3), steps, again));
}

}  // namespace

TEST_CASE("a training step") { compare<mt::precision<train, mt::f32>>(3); }
TEST_CASE("a training step in f64") { compare<mt::precision<train, mt::f64>>(2); }
TEST_CASE("a training step in bf16") { compare<mt::precision<train, mt::f32, mt::bf16>>(2); }
TEST_CASE("reductions") { compare<mt::precision<rows, mt::f32>>(); }
TEST_CASE("reductions in f64") { compare<mt::precision<rows, mt::f64>>(); }
TEST_CASE("long sums") { compare<mt::precision<long_sums, mt::f32>>(); }
TEST_CASE("long sums in f64") { compare<mt::precision<long_sums, mt::f64>>(); }
TEST_CASE("dtypes") { compare<mixed>(); }

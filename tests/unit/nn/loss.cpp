// SPDX-License-Identifier: Apache-2.0
// Losses: values, extremes, and gradients against finite differences and against plain operations.
#include "unit/nn/network.hpp"

#include "meshtensor/nn/loss.hpp"

using namespace network;

namespace {

// 6 classes out of what the network has.
constexpr auto logits_of(auto s, auto x) { return sum(x * s.parameter("weight", model, classes), model) * 4; }

auto const crossed = [](auto s, auto x, auto chosen) {
  return mt::nn::cross_entropy(logits_of(s, x), chosen, classes);
};
auto const plainly_crossed = [](auto s, auto x, auto chosen) {
  auto const logits = logits_of(s, x);
  auto const log_likely = logits - log(sum(exp(logits), classes));
  return -sum(log_likely * one_hot(chosen, classes, mt::f64), classes);
};

auto const smoothly_crossed = [](auto s, auto x, auto chosen) {
  return mt::nn::cross_entropy(logits_of(s, x), chosen, classes, 0.1);
};
auto const plainly_smooth = [](auto s, auto x, auto chosen) {
  auto const logits = logits_of(s, x);
  auto const log_likely = logits - log(sum(exp(logits), classes));
  auto const wanted = one_hot(chosen, classes, mt::f64) * 0.9 + 0.1 / 6;
  return -sum(log_likely * wanted, classes);
};

struct extreme {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, classes);
    auto const target = cast<mt::i64>(sum(iota(s, model, mt::i32)));  // 6: out of range
    s.output("out_of_range", mt::nn::cross_entropy(x, target, classes));
    s.output("y", mt::nn::cross_entropy(x, target - 6, classes));
  }
};

struct squared {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", mt::nn::mean_squared_error(s.input("x", mt::f64, model), iota(s, model, mt::f64)));
  }
};

}  // namespace

TEST_CASE("cross_entropy") {
  check_gradients("cross_entropy", crossed);
  check_same("cross_entropy", crossed, plainly_crossed);
  check_gradients("targets that the logits are shared by", [](auto s, auto x, auto chosen) {
    return mt::nn::cross_entropy(logits_of(s, mean(x, batch)), chosen, classes);
  });
}

TEST_CASE("cross_entropy with smoothing") {
  check_gradients("smooth cross_entropy", smoothly_crossed);
  check_same("smooth cross_entropy", smoothly_crossed, plainly_smooth);
}

TEST_CASE("cross_entropy does not overflow") {
  CHECK(trial::result_of<extreme>({1000, 0, 0, 0, 0, 0})[0] == 0);
  CHECK(trial::result_of<extreme>({0, 1000, 0, 0, 0, 0})[0] == 1000);
  CHECK(trial::result_of<extreme>({-1000, -1000, -1e9, -1e9, -1e9, -1e9})[0] == doctest::Approx(std::log(2)));
}

TEST_CASE("a target out of range weighs nothing") {
  trial::program p = trial::program::of<extreme>();
  p.fill("x", {3, 1, 3, 3, 3, 3});
  CHECK(p.run().at("out_of_range").number_at(0) == doctest::Approx(std::log(5 + std::exp(-2.0))));
}

TEST_CASE("the vocabulary is reduced three times, none of them in the gradient") {
  trial::program p = of(crossed);
  int reductions = 0, of_the_loss = 0;
  mt::module const& m = p.graph();
  for (int i = 0; i < m.node_count; ++i) {
    mt::node const& n = m.nodes[i];
    if (n.kind != mt::primitive::reduce || m.regions[n.region].kind == mt::region_kind::entry) continue;
    mt::name const& label = m.names[m.regions[n.region].label];
    of_the_loss += label == mt::name("cross_entropy") && m.operand_value(n, 0).dims.has(trial::dim_of(m, "classes"));
    ++reductions;
  }
  CHECK(reductions == of_the_loss);
  CHECK(of_the_loss == 3);
}

TEST_CASE("mean_squared_error") { CHECK(trial::result_of<squared>({1, 1, 1, 1})[0] == (1 + 0 + 1 + 4) / 4.0); }

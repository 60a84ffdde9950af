// SPDX-License-Identifier: Apache-2.0
// Losses: values, extremes, and gradients against finite differences and against plain operations.
#include "unit/nn/network.hpp"

#include "meshtensor/nn/loss.hpp"

using namespace small_network;

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

namespace {

/// Of logits, a target 1: what is lost with so much smoothing, its gradient, and both plainly.
struct of_logits {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, classes);
    auto const target = cast<mt::i32>(sum(iota(s, hidden, mt::i32))) - 9;
    auto const plain = mt::nn::cross_entropy(x, target, classes);
    auto const smooth = mt::nn::cross_entropy(x, target, classes, s.number("smoothing", 0.1));
    s.output("plain", plain), s.output("smooth", smooth);
    s.output("d_plain", gradient(plain, x)), s.output("d_smooth", gradient(smooth, x));
  }
};
struct in_bf16 {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, classes);
    auto const target = iota(s, batch, mt::i32);
    auto const loss = mt::nn::cross_entropy(x, target, classes, 0.1);
    static_assert(decltype(loss)::type == mt::dtype::f32 && decltype(mean(loss))::type == mt::dtype::f32);
    auto const squared = mt::nn::mean_squared_error(x, x * 0.5);
    static_assert(decltype(squared)::type == mt::dtype::f32);
    s.output("loss", loss), s.output("squared", squared), s.output("dx", gradient(mean(loss) + squared, x));
  }
};

}  // namespace

TEST_CASE("logits of -inf: the loss is inf only where they are asked for, and the gradient is finite") {
  double const inf = std::numeric_limits<double>::infinity();
  trial::program p = trial::program::of<of_logits>();
  auto const given = [&](std::vector<double> const& x, double smoothing) {
    p.fill("x", x);
    p.settings.named["smoothing"] = smoothing;
    auto all = p.run();
    for (char const* derivative : {"d_plain", "d_smooth"})
      for (double d : trial::numbers_of(all.at(derivative))) CHECK(std::isfinite(d));
    return all;
  };
  auto const near = [](mt::block const& got, std::vector<double> const& wanted) {
    for (std::size_t i = 0; i < wanted.size(); ++i)
      CHECK(got.number_at(static_cast<std::int64_t>(i)) == doctest::Approx(wanted[i]));
  };
  mt::blocks r = given({0, std::log(3.0), -inf, -inf, -inf, -inf}, 0);
  near(r.at("plain"), {std::log(4.0 / 3)}), near(r.at("smooth"), {std::log(4.0 / 3)});
  near(r.at("d_plain"), {0.25, -0.25, 0, 0, 0, 0}), near(r.at("d_smooth"), {0.25, -0.25, 0, 0, 0, 0});
  r = given({0, std::log(3.0), -inf, -inf, -inf, -inf}, 0.6);
  CHECK(r.at("smooth").number_at(0) == inf);
  near(r.at("d_smooth"), {0.15, 0.25, -0.1, -0.1, -0.1, -0.1});
  r = given({0, -inf, std::log(3.0), -inf, -inf, -inf}, 1);
  CHECK(r.at("plain").number_at(0) == inf);
  CHECK(r.at("smooth").number_at(0) == inf);
  near(r.at("d_plain"), {0.25, -1, 0.75, 0, 0, 0});
  for (double smoothing : {0.0, 0.1, 1.0}) {
    r = given(std::vector<double>(6, -inf), smoothing);
    for (auto const& [label, values] : r)
      for (double v : trial::numbers_of(values)) CHECK_MESSAGE(v == 0, label);
  }
  p.fill("x", {0, std::nan(""), 0, 0, 0, 0});
  for (auto const& [label, values] : p.run())
    for (double v : trial::numbers_of(values)) CHECK_MESSAGE(std::isnan(v), label);
}

TEST_CASE("the loss of bf16 is f32, and is computed so") {
  trial::program p = trial::program::of<mt::precision<in_bf16, mt::f32, mt::bf16>>();
  trial::program f = trial::program::of<mt::precision<in_bf16, mt::f32>>();
  p.fill_at_random(-4, 4);
  for (std::int64_t i = 0; i < 12; ++i) f.inputs.at("x").set(i, p.inputs.at("x").number_at(i));
  mt::blocks const r = p.run(), wanted = f.run();
  CHECK(trial::numbers_of(r.at("loss")) == trial::numbers_of(wanted.at("loss")));
  CHECK(r.at("squared").number_at(0) == doctest::Approx(wanted.at("squared").number_at(0)).epsilon(1e-2));
  for (std::int64_t i = 0; i < 12; ++i)
    CHECK(r.at("dx").number_at(i) == doctest::Approx(wanted.at("dx").number_at(i)).epsilon(2e-2));
}

TEST_CASE("mean_squared_error") { CHECK(trial::result_of<squared>({1, 1, 1, 1})[0] == (1 + 0 + 1 + 4) / 4.0); }

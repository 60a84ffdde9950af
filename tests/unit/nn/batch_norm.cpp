// SPDX-License-Identifier: Apache-2.0
// Batch norm: its result and gradients beside plain operations, its running averages beside plain loops, evaluation,
// frozen norms, precision and traffic.
#include "unit/nn/network.hpp"

#include "meshtensor/nn/batch_norm.hpp"
#include "meshtensor/pass/cost.hpp"

using namespace small_network;
using mt::nn::batch_statistics;

namespace {

inline constexpr mt::layer plain = [](mt::scope auto s, auto x) {
  auto const gain = s.parameter("gain", model, mt::ones);
  auto const bias = s.parameter("bias", model, mt::zeros);
  auto const mean_so_far = s.state("mean", mt::f64, model);
  auto const variance_so_far = s.state("variance", mt::f64, model, mt::ones);
  auto const centred = x - mean(x, batch, length);
  auto const variance = mean(centred * centred, batch, length);
  s.update(mean_so_far, 0.9 * mean_so_far + 0.1 * mean(x, batch, length));
  s.update(variance_so_far, 0.9 * variance_so_far + 0.1 * variance * 6 / 5);
  return centred / sqrt(variance + 1e-5) * gain + bias;
};
inline constexpr mt::layer plain_running = [](mt::scope auto s, auto x) {
  auto const gain = s.parameter("gain", model, mt::ones);
  auto const bias = s.parameter("bias", model, mt::zeros);
  auto const centred = x - s.state("mean", mt::f64, model);
  return centred / sqrt(s.state("variance", mt::f64, model, mt::ones) + 1e-5) * gain + bias;
};

/// Normalizes x, of 6 numbers a channel, and learns.
template <batch_statistics From, mt::dtype T>
struct normalized {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::dtype_constant<T>{}, batch, length, model);
    auto const y = mt::nn::batch_norm(s / "norm", x, model, From);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(y)>, std::remove_cvref_t<decltype(x)>>);
    s.output("y", y);
    auto const z = y * s.parameter("weight", model, mt::ones);  // trained, whatever the norm is
    mt::sgd{.learning_rate = 0.5}.minimize(s / "optimizer", sum(mt::cast<mt::dtype::f32>(z * y)));
  }
};
template <batch_statistics From, mt::dtype T>
struct precise : mt::precision<normalized<From, T>, T == mt::dtype::f64 ? mt::dtype::f64 : mt::dtype::f32, T> {};

/// The mean and the variance, n as the divisor, of the six numbers of a channel.
std::pair<double, double> moments(mt::block const& x, std::int64_t channel) {
  double centre = 0, variance = 0;
  for (std::int64_t i = 0; i < 6; ++i) centre += x.number_at(4 * i + channel) / 6;
  for (std::int64_t i = 0; i < 6; ++i) variance += std::pow(x.number_at(4 * i + channel) - centre, 2) / 6;
  return {centre, variance};
}
void check_standard(mt::block const& y, mt::block const& x, double tolerance) {
  for (std::int64_t i = 0; i < y.size(); ++i) {
    auto const [centre, variance] = moments(x, i % 4);
    CHECK(std::abs(y.number_at(i) - (x.number_at(i) - centre) / std::sqrt(variance + 1e-5)) < tolerance);
  }
}

inline constexpr struct rows_dim : mt::dim<"rows", 2> {} rows;
inline constexpr struct data_axis : mt::axis<"data", 2> {} data;
struct mesh : mt::mesh<data> {};
struct by_batch : mt::layout<mt::shard<batch, data>> {};
struct by_rows : mt::layout<mt::shard<rows, data>> {};
struct by_channels : mt::layout<mt::shard<model, data>> {};
struct forward {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, rows, model);
    s.output("y", mt::nn::batch_norm(s / "norm", x, model));
  }
};
struct backward {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, rows, model);
    auto const y = mt::nn::batch_norm(s / "norm", x, model);
    s.output("dx", gradient(sum(y * y * y), x));
  }
};

}  // namespace

TEST_CASE("batch_norm") {
  auto const normed = [](auto s, auto x, auto) { return mt::nn::batch_norm(s / "norm", x, model); };
  check_same("batch_norm", normed, [](auto s, auto x, auto) { return plain(s / "norm", x); });
  auto const running = [](auto s, auto x, auto) {
    return mt::nn::batch_norm(s / "norm", x, model, batch_statistics::running);
  };
  check_same("of running averages", running, [](auto s, auto x, auto) { return plain_running(s / "norm", x); });
}

TEST_CASE("running averages over several steps") {
  trial::program p = trial::program::of<precise<batch_statistics::of_batch, mt::dtype::f32>>();
  double centres[4] = {}, variances[4] = {1, 1, 1, 1};
  for (std::uint64_t step = 0; step < 5; ++step) {
    p.fill_at_random(-1.0 - static_cast<double>(step), 3, step);
    p.run();
    for (std::int64_t c = 0; c < 4; ++c) {
      auto const [centre, variance] = moments(p.inputs.at("x"), c);
      centres[c] = 0.9 * centres[c] + 0.1 * centre, variances[c] = 0.9 * variances[c] + 0.1 * variance * 6 / 5;
      CHECK(p.variables.at("norm/mean").number_at(c) == doctest::Approx(centres[c]).epsilon(1e-5));
      CHECK(p.variables.at("norm/variance").number_at(c) == doctest::Approx(variances[c]).epsilon(1e-5));
    }
  }
}

TEST_CASE("an evaluation keeps the averages; a frozen norm its gain and bias, too") {
  trial::program learned = trial::program::of<precise<batch_statistics::of_batch, mt::dtype::f32>>();
  learned.fill_at_random(2, 5);
  learned.run();
  auto const check = [&]<class Program>(bool trains) {
    trial::program p = trial::program::of<Program>();
    p.variables = learned.variables;
    p.fill_at_random(-3, 1, 9);
    mt::block const y = p.run().at("y");
    auto const of = [&](char const* name, std::int64_t c) { return learned.variables.at(name).number_at(c); };
    for (std::int64_t i = 0; i < y.size(); ++i) {
      std::int64_t const c = i % 4;
      double const normal =
          (p.inputs.at("x").number_at(i) - of("norm/mean", c)) / std::sqrt(of("norm/variance", c) + 1e-5);
      CHECK(std::abs(y.number_at(i) - (normal * of("norm/gain", c) + of("norm/bias", c))) < 1e-4);
    }
    for (auto const& [name, b] : learned.variables) {
      bool const is_same = trial::numbers_of(b) == trial::numbers_of(p.variables.at(name));
      INFO(name);
      if (name == "weight") CHECK(!is_same);
      else CHECK(is_same == !(trains && (name == "norm/gain" || name == "norm/bias")));
    }
  };
  check.operator()<precise<batch_statistics::running, mt::dtype::f32>>(true);
  check.operator()<precise<batch_statistics::frozen, mt::dtype::f32>>(false);
}

namespace {
/// Norms without an epsilon: by the batch, and by running averages. A gradient of a gradient is taken, too.
template <mt::dtype T, bool AtRunTime>
struct without_epsilon {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::dtype_constant<T>{}, batch, length, model);
    mt::number const epsilon = AtRunTime ? s.number("epsilon", 0) : mt::number(0);
    auto const y =
        mt::nn::batch_norm(s / "norm", x, model, mt::nn::batch_norm_options{.momentum = 1, .epsilon = epsilon});
    auto const dx = gradient(sum(y * y * y), x);
    s.output("y", y), s.output("dx", dx), s.output("ddx", gradient(sum(dx * dx), x));
  }
};
template <mt::dtype T>
struct running_without_epsilon {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::dtype_constant<T>{}, batch, length, model);
    auto const y = mt::nn::batch_norm(
        s / "norm", x, model, mt::nn::batch_norm_options{.statistics = batch_statistics::running, .epsilon = 0});
    s.output("y", y), s.output("dx", gradient(sum(y * y), x));
  }
};

/// Two channels are constant, one of them zero, and give their bias; the others are standardized.
template <mt::dtype T, bool AtRunTime>
void check_without_epsilon() {
  using traced = mt::precision<without_epsilon<T, AtRunTime>, T, T>;
  trial::program p = trial::program::of<traced>();
  p.fill_at_random(-1, 3);
  mt::block& x = p.inputs.at("x");
  for (std::int64_t i = 0; i < x.size(); ++i)
    if (i % 4 < 2) x.set(i, i % 4 == 0 ? 0 : 0.5);
  mt::blocks const all = p.run();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    auto const [centre, variance] = moments(x, i % 4);
    double const wanted = i % 4 < 2 ? 0 : (x.number_at(i) - centre) / std::sqrt(variance);
    CHECK(all.at("y").number_at(i) == doctest::Approx(wanted).epsilon(1e-5));
    CHECK(std::isfinite(all.at("dx").number_at(i)));
    CHECK(std::isfinite(all.at("ddx").number_at(i)));
    if (i % 4 < 2) CHECK(all.at("dx").number_at(i) == 0);
  }
  trial::program evaluation = trial::program::of<mt::precision<running_without_epsilon<T>, T, T>>();
  evaluation.variables = p.variables;
  evaluation.inputs = p.inputs;
  mt::blocks const later = evaluation.run();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    CHECK(std::isfinite(later.at("y").number_at(i)));
    CHECK(std::isfinite(later.at("dx").number_at(i)));
    if (i % 4 < 2) CHECK(later.at("y").number_at(i) == 0);
  }
}
}  // namespace

TEST_CASE("channels without variance give their bias if there is no epsilon") {
  check_without_epsilon<mt::dtype::f32, false>();
  check_without_epsilon<mt::dtype::f32, true>();
  check_without_epsilon<mt::dtype::f64, false>();
  check_without_epsilon<mt::dtype::f64, true>();
}

TEST_CASE("a mean that is far from zero costs no digits") {
  trial::program p = trial::program::of<precise<batch_statistics::of_batch, mt::dtype::f32>>();
  p.fill_at_random(9999, 10001);
  check_standard(p.run().at("y"), p.inputs.at("x"), 2e-3);  // the mean is rounded to 1e-3
  for (std::int64_t c = 0; c < 4; ++c)
    CHECK(p.variables.at("norm/variance").number_at(c) ==
          doctest::Approx(0.9 + 0.1 * moments(p.inputs.at("x"), c).second * 6 / 5).epsilon(1e-5));
}

TEST_CASE("statistics of bf16 are f32") {
  trial::program p = trial::program::of<precise<batch_statistics::of_batch, mt::dtype::bf16>>();
  p.fill_at_random(30, 40);
  check_standard(p.run().at("y"), p.inputs.at("x"), 0.02);
  for (char const* name : {"norm/mean", "norm/variance"}) CHECK(p.variables.at(name).type() == mt::dtype::f32);
  for (std::int64_t c = 0; c < 4; ++c) {
    auto const [centre, variance] = moments(p.inputs.at("x"), c);
    CHECK(p.variables.at("norm/mean").number_at(c) == doctest::Approx(0.1 * centre).epsilon(1e-5));
    CHECK(p.variables.at("norm/variance").number_at(c) == doctest::Approx(0.9 + 0.1 * variance * 6 / 5).epsilon(1e-5));
  }
}

TEST_CASE("a sharded batch or image exchanges both sums at once, sharded channels nothing") {
  static_assert(mt::traffic<forward, mesh, by_batch>.messages == 1);
  static_assert(mt::traffic<forward, mesh, by_rows>.messages == 1);
  static_assert(mt::traffic<forward, mesh, by_channels>.collectives() == 0);
  static_assert(mt::traffic<backward, mesh, by_batch>.messages == 2);
  static_assert(mt::traffic<backward, mesh, by_batch>.all_reduces == 4);
  static_assert(mt::traffic<backward, mesh, by_channels>.collectives() == 0);
}

// SPDX-License-Identifier: Apache-2.0
// Fits a linear regression by gradient descent on one rank, and checks it against the normal equations.
// Run it alone and without arguments.
//
// Prints:
//
//     step   0  loss 32.958015
//     step  25  loss 0.011276
//     step  50  loss 0.009564
//     step  75  loss 0.009563
//     step 100  loss 0.009563
//     weight 1.988 -3.385, bias 4.199
//     residual of the normal equations 8e-07
#include <algorithm>
#include <cmath>
#include <random>

#include <meshtensor/job/main.hpp>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

namespace regression {
using mt::to;

// A dim is a type and a value of the same name. Its extent is part of the type, or is given at start-up.
inline constexpr struct samples : mt::dim<"samples"> {} samples;
inline constexpr struct features : mt::dim<"features", 2> {} features;

// A program describes one training step: its inputs, parameters, loss, update and outputs.
struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, samples, features);
    auto y = s.input("y", mt::f32, samples);
    auto weight = s.parameter("weight", features);
    auto bias = s.parameter("bias");
    auto error = einsum(x, weight, to(samples)) + bias - y;  // sums over `features`, which the result lacks
    auto loss = mean(error * error);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);  // differentiates the loss by all parameters
    s.output("loss", loss);
  }
};

int fit(mt::job const& job) {
  constexpr int n = 100;
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  mt::array<float, samples, features> x(samples(n));
  mt::array<float, samples> noise(samples(n));
  for (float& e : x) e = normal(generator);
  for (float& e : noise) e = 0.1f * normal(generator);
  mt::array<float, features> const true_weight({2, -3.4f});
  auto const y = einsum(x, true_weight, to(samples)) + 4.2 + noise;  // arrays have the operations of programs

  mt::store weights(job);                                                          // holds the parameters by name
  mt::executable<train_step, mt::mesh<>, mt::layout<>> step(weights, samples(n));  // a mesh without axes has one rank
  for (int i = 0; i <= 100; ++i) {
    float const loss = step(mt::feed<"x">(x), mt::feed<"y">(y)).get<"loss">();
    if (i % 25 == 0) mt::print(job, "step {:>3}  loss {:.6f}\n", i, loss);
  }
  mt::array<float, features> const weight(weights.get<float>("weight"));
  float const bias = weights.get<float>("bias").item();
  mt::print(job, "weight {:.3f} {:.3f}, bias {:.3f}\n", weight(features(0)), weight(features(1)), bias);

  // The best fit solves the normal equations: its errors have the mean zero and are orthogonal to every feature.
  auto const error = einsum(x, weight, to(samples)) + bias - y;
  float const residual = std::max(std::abs(mean(error)), max(abs(einsum(x, error, to(features)))) / n);
  mt::print(job, "residual of the normal equations {:.0e}\n", residual);
  return residual < 1e-5f ? 0 : 1;
}
}  // namespace regression

int main(int argc, char** argv) { return mt::run_main(argc, argv, regression::fit); }

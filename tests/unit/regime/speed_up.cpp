// SPDX-License-Identifier: Apache-2.0
// How fast stochastic gradient push learns with noise: n replicas need an n-th of the steps of one. Assran et al. 2019
// prove that the mean of the squared gradients over K steps is of the order of 1 / √(nK) if the rate is √(n / K).
// passes: start-up
#include "unit/regime/noisy_quadratic.hpp"

using namespace noisy_quadratic;

namespace {

constexpr int coordinates = 16;

/// The mean over all steps of the squared gradient of all replicas' function, at their consensus. Their own functions
/// differ, in curvature and in centre.
template <class Policy>
double squared_gradient(int n, int steps) {
  int const of_all = n * coordinates;
  auto training = replicas_of_quadratic::under<Policy>(n, coordinates);
  numbers curvature = drawn(of_all, 31), centre = drawn(of_all, 32), noise(static_cast<std::size_t>(of_all));
  for (double& one : curvature) one = 1 + one / 2;
  training.fill("curvature", curvature), training.fill("centre", centre);
  training.set_rate(std::sqrt(static_cast<double>(n) / steps));
  numbers steepness(coordinates), weighted_centre(coordinates);
  for (std::size_t i = 0; i < curvature.size(); ++i) {
    steepness[i % coordinates] += curvature[i] / n;
    weighted_centre[i % coordinates] += curvature[i] * centre[i] / n;
  }
  numbers start(static_cast<std::size_t>(of_all));  // from one away from the minimum, for any number of replicas
  for (std::size_t i = 0; i < start.size(); ++i)
    start[i] = 1 + weighted_centre[i % coordinates] / steepness[i % coordinates];
  training.set("w", start);
  trial::stream random{static_cast<std::uint64_t>(1000 * n + steps)};
  double all = 0;
  for (int step = 0; step < steps; ++step) {
    numbers const sums = training.sums();
    for (std::size_t k = 0; k < coordinates; ++k)
      all += std::pow(steepness[k] * sums[k] / n - weighted_centre[k], 2) / (coordinates * steps);
    for (double& one : noise) one = random.between(-2, 2);
    training.fill("noise", noise);
    training.step();
  }
  return all;
}
/// The exponent with which y follows x.
double exponent(numbers const& x, numbers const& y) {
  double mean_x = 0, mean_y = 0, above = 0, below = 0;
  auto const count = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) mean_x += std::log(x[i]) / count, mean_y += std::log(y[i]) / count;
  for (std::size_t i = 0; i < x.size(); ++i) {
    above += (std::log(x[i]) - mean_x) * (std::log(y[i]) - mean_y);
    below += (std::log(x[i]) - mean_x) * (std::log(x[i]) - mean_x);
  }
  return above / below;
}

}  // namespace

TEST_CASE("squared gradients fall with the root of the steps, and with the root of the replicas") {
  using push = mt::stochastic_gradient_push<>;
  double const middle = squared_gradient<push>(4, 4096);
  numbers const of_steps{squared_gradient<push>(4, 1024), middle, squared_gradient<push>(4, 16384)};
  numbers const of_replicas{squared_gradient<push>(1, 4096), middle, squared_gradient<push>(16, 4096)};
  INFO("by steps ", of_steps, ", by replicas ", of_replicas);
  CHECK(std::abs(exponent({1024, 4096, 16384}, of_steps) + 0.5) < 0.05);
  CHECK(std::abs(exponent({1, 4, 16}, of_replicas) + 0.5) < 0.05);  // a linear speed-up: only the product nK counts
}
TEST_CASE("the speed-up is linear without waiting for messages, and where replicas get different shares") {
  using overlapped = mt::overlapped_gradient_push<>;
  using irregular = mt::stochastic_gradient_push<mt::random_out_degrees<5>>;
  double const one = squared_gradient<overlapped>(1, 4096);
  double const by_overlapped = exponent({1, 16}, {one, squared_gradient<overlapped>(16, 4096)});
  double const by_irregular = exponent({1, 16}, {one, squared_gradient<irregular>(16, 4096)});
  CHECK(std::abs(by_overlapped + 0.5) < 0.05);
  CHECK(std::abs(by_irregular + 0.5) < 0.05);
}

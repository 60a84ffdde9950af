// SPDX-License-Identifier: Apache-2.0
// Finds the conductivities of a plate of wood, along and across its grain, from its temperatures at start and end. For
// this it solves the heat equation, and differentiates the loss through all time steps of the solver.
// Run it alone, with threads as ranks, or with mpirun -n 2, 3 or 4.
//
// Prints:
//
//     step   0  loss 1.47e-02  conductivity 0.0320 along, 0.0320 across
//     step  30  loss 2.14e-04  conductivity 0.0606 along, 0.0265 across
//     step  60  loss 1.37e-05  conductivity 0.0598 along, 0.0292 across
//     step  90  loss 4.24e-07  conductivity 0.0592 along, 0.0301 across
//     step 120  loss 3.55e-08  conductivity 0.0595 along, 0.0300 across
//     truth                               0.0600 along, 0.0300 across
#include <algorithm>
#include <cmath>
#include <numbers>

#include <meshtensor/job/main.hpp>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

namespace heat {
// The grid covers the unit square. It has only the inner points, because the edge stays at temperature 0.
constexpr int points = 12, steps = 25;
constexpr double h = 1. / (points + 1), dt = 0.02;
inline constexpr struct x : mt::dim<"x", points> {} x;  // along the grain
inline constexpr struct y : mt::dim<"y", points> {} y;  // across the grain
inline constexpr struct time : mt::dim<"time", steps> {} time;

constexpr auto second_derivative(auto u, auto along) {
  return mt::stencil(u, [&](auto at) { return (at(along(-1)) - 2 * at() + at(along(1))) / (h * h); });
}

struct fit {
  constexpr void operator()(mt::scope auto s) const {
    auto along = s.parameter("along", mt::constant(0.03)), across = s.parameter("across", mt::constant(0.03));
    auto first = s.input("first", mt::f64, y, x), measured = s.input("measured", mt::f64, y, x);
    // Each iteration is a step of Euler's method for ∂u/∂t = along · ∂²u/∂x² + across · ∂²u/∂y².
    auto last = repeat(s / "steps", time, first, [&](mt::scope auto, auto u) {
      return u + dt * (along * second_derivative(u, x) + across * second_derivative(u, y));
    });
    auto loss = mt::nn::mean_squared_error(last, measured);
    mt::adam{.learning_rate = 0.002}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct fit_in_f64 : mt::precision<fit, mt::f64> {};

// Each rank has some rows of the plate. The derivative along y reads neighbouring rows. Therefore each rank receives
// one row from each neighbour, its halo.
inline constexpr struct workers : mt::axis<"workers"> {} workers;
struct mesh : mt::mesh<workers> {};
struct layout : mt::layout<mt::shard<y, workers>> {};

int run(mt::job const& job) {
  // The solution is known exactly, because sin(kπx) sin(lπy) decays with the rate π²(k² along + l² across).
  constexpr double pi = std::numbers::pi, true_along = 0.06, true_across = 0.03;
  auto const exact = [](double at) {
    mt::array<double, y, x> u;
    for (int i = 0; i < points; ++i)
      for (int j = 0; j < points; ++j)
        for (auto const& [k, l] : {std::pair(1, 2), std::pair(2, 1)})
          u(x(i), y(j)) += std::sin(k * pi * h * (i + 1)) * std::sin(l * pi * h * (j + 1)) *
                           std::exp(-pi * pi * (k * k * true_along + l * l * true_across) * at);
    return u;
  };
  auto const first = exact(0), measured = exact(steps * dt);

  mt::store weights(job);
  mt::executable<fit_in_f64, mesh, layout> step(weights, workers(std::max(2, job.processes())));
  auto const found = [&](char const* name) { return weights.get<double>(name).item(); };
  for (int i = 0; i <= 120; ++i) {
    double const loss = step(mt::feed<"first">(first), mt::feed<"measured">(measured)).get<"loss">();
    if (i % 30 == 0)
      mt::print(job, "step {:>3}  loss {:.2e}  conductivity {:.4f} along, {:.4f} across\n", i, loss, found("along"),
                found("across"));
  }
  mt::print(job, "truth {:>36.4f} along, {:.4f} across\n", true_along, true_across);
  double const error = std::max(std::abs(found("along") / true_along - 1), std::abs(found("across") / true_across - 1));
  return error < 0.02 ? 0 : 1;  // the bound is wide, because the grid and the time step are coarse
}
}  // namespace heat

int main(int argc, char** argv) { return mt::run_main(argc, argv, heat::run); }

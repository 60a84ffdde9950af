// SPDX-License-Identifier: Apache-2.0
// How long replicas train under several policies: seconds of steps on a network, with pauses at random, predicted with
// a clock for each rank. The model has the size of ResNet-50, in 16 equal layers, and each rank has one replica.
// Nothing is computed, so one processor predicts hundreds of ranks.
// passes: start-up
//
//   cmake --preset quickstart -DMESHTENSOR_BENCH=ON && cmake --build build/quickstart --target bench_run_regime_times
//   build/quickstart/bench/run/regime_times [--replicas 4,8 --network 10gbit --latency 50us --pauses 1% --steps 1000 …]
//   build/quickstart/bench/run/regime_times --paper    as Assran et al. 2019 measured: 32 nodes, 90 epochs, 10 Gbit/s
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "layers_in_a_row.hpp"
#include "meshtensor/inspect/explain.hpp"
#include "meshtensor/inspect/predict_ranks.hpp"

namespace mt = meshtensor;

namespace {

using namespace layers_in_a_row;

struct fusing_device : mt::reference_device {
  static constexpr mt::device_capabilities capabilities{true};
};

constexpr int layer_count = 16;
using step_alone = train_step<mt::momentum, layer_count>;
using step_of_all = step_of_one<step_alone, fusing_device>;
template <class Policy>
using step_under = step_of<step_alone, Policy, fusing_device>;

/// A number with a unit behind it: 10gbit, 50us, 1%.
double in_units(std::string const& text, std::vector<std::pair<std::string, double>> const& units) {
  std::size_t used = 0;
  double const number = std::stod(text, &used);
  for (auto const& [unit, factor] : units)
    if (text.substr(used) == unit) return number * factor;
  throw CLI::ValidationError("'" + text + "' needs one of the units: " + [&] {
    std::string all;
    for (auto const& [unit, factor] : units) all += " " + (unit.empty() ? "none" : unit);
    return all;
  }());
}

struct options {
  std::vector<int> replicas{4, 8, 16, 32, 64, 128, 256, 512};
  std::string network = "10gbit", latency = "50us", pauses = "0%";
  double pause = 1, compute = 0.3, parameters = 25.6e6, memory = 9e11, efficiency = 1;
  std::int64_t steps = 1000;
  std::uint64_t seed = 0;
  bool sends_wait = false, paper = false;

  mt::network between(double efficient = 1) const {
    double const bytes = in_units(network, {{"mbit", 1e6 / 8}, {"gbit", 1e9 / 8}});
    double const wait = in_units(latency, {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}});
    return {{{"ranks", wait, bytes * efficient}}, {}, sends_wait};
  }
  mt::stragglers slow() const {
    return {.probability = in_units(pauses, {{"%", 0.01}, {"", 1}}), .steps = pause, .seed = seed};
  }
};

std::int64_t width_of(options const& o) { return std::lround(std::sqrt(o.parameters / layer_count)); }
template <class Policy>
mt::draft<step_under<Policy>> planned(options const& o, int n) {
  return mt::draft<step_under<Policy>>(ranks(n), replica(n), batch(batch_of_one), width(width_of(o)),
                                       next(width_of(o)));
}
mt::draft<step_of_all> planned_as_one(options const& o, int n) {
  return mt::draft<step_of_all>(ranks(n), batch(n * batch_of_one), width(width_of(o)), next(width_of(o)));
}
/// The rates with which a replica alone takes the seconds of the options for a step.
mt::rates rates_of(options const& o) {
  auto const alone = planned_as_one(o, 1);
  mt::rates r{1e9, o.memory};
  for (int i = 0; i < 5; ++i) r.flops *= mt::predict(alone, {{"ranks", 0, 1}}, r).computed / o.compute;
  return r;
}
struct column {
  std::string name;
  bool reduces;  // an all_reduce in each step, which reaches a share of the network's rate
  mt::predicted_run (*predict)(options const&, mt::rates const&, int, double);

  mt::predicted_run run(options const& o, mt::rates const& r, int n, double efficiency) const {
    return predict(o, r, n, reduces ? efficiency : 1);
  }
};
template <class Policy>
column column_of(std::string const& name, bool reduces = false) {
  return {name, reduces, [](options const& o, mt::rates const& r, int n, double efficiency) {
            return mt::predict(planned<Policy>(o, n), o.between(efficiency), r, o.steps, o.slow());
          }};
}
std::vector<column> columns() {
  column const one{"data parallel", true, [](options const& o, mt::rates const& r, int n, double efficiency) {
                     return mt::predict(planned_as_one(o, n), o.between(efficiency), r, o.steps, o.slow());
                   }};
  return {one, column_of<mt::synchronous>("synchronous", true), column_of<mt::stochastic_gradient_push<>>("push"),
          column_of<mt::overlapped_gradient_push<>>("overlapped push"),
          column_of<mt::local_sgd<16>>("local SGD of 16")};
}
double waited(mt::predicted_run const& run) {
  double all = 0;
  for (mt::predicted_rank const& r : run.ranks) all += r.exposed / r.seconds;
  return all / static_cast<double>(run.ranks.size());
}

void print_table(options const& o) {
  mt::rates const r = rates_of(o);
  fmt::print("seconds of {} steps of {} s, {:.3g} parameters, {}, {}, pauses in {} of the steps of a rank\n\n", o.steps,
             o.compute, o.parameters, o.network, o.latency, o.pauses);
  fmt::print("| replicas |");
  for (column const& c : columns()) fmt::print(" {} |", c.name);
  fmt::print(" predicted in |\n|---|---|---|---|---|---|---|\n");
  for (int const n : o.replicas) {
    auto const begin = std::chrono::steady_clock::now();
    fmt::print("| {} |", n);
    for (column const& c : columns()) {
      mt::predicted_run const run = c.run(o, r, n, o.efficiency);
      fmt::print(" {:.0f} ({:.0f} % waits) |", run.seconds, 100 * waited(run));
    }
    fmt::print(" {:.2f} s |\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    std::fflush(stdout);
  }
}

/// ResNet-50 on ImageNet: 32 nodes with 256 images each take 156 steps an epoch. A step computes as long as the paper's
/// gradient push takes without its messages.
void print_paper(options o) {
  double const steps = 90 * 156, measured_all_reduce = 5.1 * 3600 / steps, measured_push = 1.6 * 3600 / steps;
  o.steps = 64;
  o.compute = measured_push - 4 * o.parameters / o.between().links[0].bytes_per_second;
  mt::rates const r = rates_of(o);
  auto const hours = [&](column const& c, double efficiency) {
    return c.run(o, r, 32, efficiency).seconds / static_cast<double>(o.steps) * steps / 3600;
  };
  fmt::print("hours of 90 epochs on 32 nodes, {} and {}; a step computes {:.3f} s\n", o.network, o.latency, o.compute);
  fmt::print("the paper: all_reduce 5.1 ({:.3f} s a step), push 1.6 ({:.3f} s a step)\n\n", measured_all_reduce,
             measured_push);
  fmt::print("| all_reduce |");
  for (column const& c : columns()) fmt::print(" {} |", c.name);
  fmt::print("\n|---|---|---|---|---|---|\n");
  double low = 0.01, high = 1;  // the share of the line at which the all_reduce takes as long as in the paper
  for (int i = 0; i < 20; ++i) {
    double const middle = std::sqrt(low * high);
    (hours(columns()[0], middle) > 5.1 ? low : high) = middle;
  }
  for (double const efficiency : {1.0, high}) {
    fmt::print("| at {:.0f} % of the line |", 100 * efficiency);
    for (column const& c : columns()) fmt::print(" {:.2f} |", hours(c, efficiency));
    fmt::print("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App app("Seconds of steps under several policies, predicted");
  app.add_option("--replicas", o.replicas, "Numbers of replicas, one a rank")->delimiter(',');
  app.add_option("--network", o.network, "What a rank receives in a second, such as 10gbit");
  app.add_option("--latency", o.latency, "Of a message, such as 50us");
  app.add_option("--pauses", o.pauses, "The share of the steps before which a rank pauses, such as 1%");
  app.add_option("--pause", o.pause, "The length of a pause, in steps");
  app.add_option("--compute", o.compute, "Seconds that a step computes");
  app.add_option("--parameters", o.parameters, "Parameters of the model");
  app.add_option("--memory", o.memory, "Bytes that a rank reads and writes in a second");
  app.add_option("--efficiency", o.efficiency, "The share of the network's rate that an all_reduce reaches");
  app.add_option("--steps", o.steps, "Steps");
  app.add_option("--seed", o.seed, "Of the pauses");
  app.add_flag("--sends-wait", o.sends_wait, "Messages wait for their receivers");
  app.add_flag("--paper", o.paper, "The setting of Assran et al. 2019");
  try {
    app.parse(argc, argv);
    if (o.paper) print_paper(o);
    else print_table(o);
  } catch (CLI::Error const& e) { return app.exit(e); } catch (mt::error const& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}

// SPDX-License-Identifier: Apache-2.0
// Measures steps of replicas over the links between the ranks, under several policies, beside the times that
// mt::predict gives. Each rank has one replica. Its device sleeps for the seconds that the prediction gives to a kernel
// instead of computing. Messages are real: they have the bytes of the parameters. `Clock` is the clock of this machine
// or of a simulation.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "meshtensor/inspect/explain.hpp"
#include "meshtensor/inspect/predict_ranks.hpp"
#include "meshtensor/meshtensor.hpp"
#include "run/layers_in_a_row.hpp"
#include "sleeping_device.hpp"

namespace regime_steps {

using namespace layers_in_a_row;

constexpr int layer_count = 8;

struct options {
  double mbit = 100, latency = 100e-6, compute = 0.4, megabytes = 4;
  int steps = 16;
  std::string only;
  bool sends_wait = false;
};

inline mt::network links_of(options const& o) { return {{{"ranks", o.latency, o.mbit * 1e6 / 8}}, {}, o.sends_wait}; }
inline std::int64_t width_of(options const& o) { return std::lround(std::sqrt(o.megabytes * 1e6 / 4 / layer_count)); }

/// What a rank has sent and received up to now, by the count of the MPI library's calls.
struct counted_messages {
  std::int64_t messages = 0, bytes = 0;
};

template <class Clock>
struct measurement {
  using step_alone = train_step<mt::sgd, layer_count>;
  using device = sleeping_device<Clock>;
  using step_of_all = step_of_one<step_alone, device>;

  mt::job const& job;
  options const& o;
  std::function<counted_messages()> counted = {};  // nothing is counted without it

  /// The rates with which a replica alone takes the seconds of the options for a step.
  mt::rates rates() const {
    std::int64_t const w = width_of(o);
    mt::draft<step_of_all> const alone(ranks(1), batch(batch_of_one), width(w), next(w));
    mt::rates r{1e9, 1e12};
    for (int i = 0; i < 5; ++i) r.flops *= mt::predict(alone, {{"ranks", 0, 1}}, r).computed / o.compute;
    return r;
  }

  /// Takes the time of steps, the first ones left out, and prints it beside the prediction.
  template <class Executable, class... Extents>
  void measure(char const* name, Extents const&... extents) const {
    int const warm = 8;  // a period of local SGD
    mt::rates const r = rates();
    mt::draft<Executable> const planned(extents...);
    mt::predicted_run const run = mt::predict(planned, links_of(o), r, warm + o.steps);
    auto const at = [](int step) { return static_cast<std::size_t>(step); };
    double const predicted = (run.ended(at(warm + o.steps - 1)) - run.ended(at(warm - 1))) / o.steps;
    device::plan(planned.graph(), planned.planned().numbers, r);
    mt::store weights(job);
    Executable step(weights, extents...);
    std::vector<float> const x(static_cast<std::size_t>(width_of(o) * batch_of_one * job.get().size()));
    counted_messages before;
    double begin = 0;
    for (int k = 0; k < warm + o.steps; ++k) {
      if (k == warm) {
        if (counted) before = counted();
        begin = Clock::now();
      }
      step(mt::feed<"x">(x));
    }
    double const measured = (Clock::now() - begin) / o.steps;
    mt::step_traffic const traffic = mt::traffic_of(planned.graph(), planned.planned());
    std::string sent;
    if (counted) {
      counted_messages const after = counted();
      sent = fmt::format(", \"counted_messages\": {:.2f}, \"counted_mb\": {:.3f}",
                         static_cast<double>(after.messages - before.messages) / o.steps,
                         static_cast<double>(after.bytes - before.bytes) / o.steps / 1e6);
    }
    mt::print(job,
              "{{\"regime\": \"{}\", \"mbit\": {}, \"measured_ms\": {:.2f}, \"predicted_ms\": {:.2f}, \"mb\": {:.3f}, "
              "\"messages\": {}{}}}\n",
              name, o.mbit, 1e3 * measured, 1e3 * predicted, static_cast<double>(traffic.bytes) / 1e6, traffic.messages,
              sent);
  }

  /// Measures the policies that the options name, and throws if there are none.
  void measure_all() const {
    int const n = job.get().size();
    std::int64_t const w = width_of(o);
    std::string names;
    bool found = false;
    auto const is_wanted = [&](char const* name) {
      names += names.empty() ? name : fmt::format(", {}", name);
      bool const wanted = o.only.empty() || o.only == name;
      found = found || wanted;
      return wanted;
    };
    auto const under = [&]<class Policy>(char const* name, Policy) {
      if (is_wanted(name))
        measure<step_of<step_alone, Policy, device>>(name, ranks(n), replica(n), batch(batch_of_one), width(w),
                                                     next(w));
    };
    if (is_wanted("data parallel"))
      measure<step_of_all>("data parallel", ranks(n), batch(n * batch_of_one), width(w), next(w));
    under("synchronous", mt::synchronous{});
    under("push", mt::stochastic_gradient_push<>{});
    under("overlapped push", mt::overlapped_gradient_push<>{});
    under("local SGD of 8", mt::local_sgd<8>{});
    if (!found) throw CLI::ValidationError("--only", fmt::format("no policy is '{}': there are {}", o.only, names));
  }
};

/// Reads the options and measures, as `main` does, in the job that `start` gives.
template <class Clock>
int run(int argc, char** argv, auto const& start, std::function<counted_messages()> const& counted = {}) {
  options o;
  CLI::App app("Seconds of steps of replicas over the links between ranks");
  app.add_option("--mbit", o.mbit, "What a rank sends in a second, for the prediction");
  app.add_option("--latency", o.latency, "Seconds of a message, for the prediction");
  app.add_option("--compute", o.compute, "Seconds that a step computes, which the device sleeps");
  app.add_option("--megabytes", o.megabytes, "Of parameters, f32");
  app.add_option("--steps", o.steps, "Steps, a multiple of 8");
  app.add_option("--only", o.only, "One policy alone, such as overlapped-push");
  app.add_flag("--sends-wait", o.sends_wait, "Messages wait for their receivers, for the prediction");
  try {
    app.parse(argc, argv);
    std::ranges::replace(o.only, '-', ' ');
    mt::job const job = start();
    measurement<Clock>{job, o, counted}.measure_all();
  } catch (CLI::Error const& e) { return app.exit(e); } catch (mt::error const& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
  return 0;
}

}  // namespace regime_steps

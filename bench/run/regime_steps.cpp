// SPDX-License-Identifier: Apache-2.0
// How long steps of replicas take over the links between the ranks, under several policies, beside the times that
// mt::predict gives. Each rank has one replica. Its device sleeps for the seconds that the prediction gives to a kernel
// instead of computing, so several ranks may share a core. Messages are real: they have the bytes of the parameters.
// passes: start-up
//
//   mpirun -n 4 build/quickstart/bench/run/regime_steps --mbit 100 [--latency 100e-6 --compute 0.4 --steps 16 …]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "../sleeping_device.hpp"
#include "layers_in_a_row.hpp"
#include "meshtensor/inspect/explain.hpp"
#include "meshtensor/inspect/predict_ranks.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace regime_steps {

using namespace layers_in_a_row;

constexpr int layer_count = 8;
using step_alone = train_step<mt::sgd, layer_count>;
using step_of_all = step_of_one<step_alone, sleeping_device>;

struct options {
  double mbit = 100, latency = 100e-6, compute = 0.4, megabytes = 4;
  int steps = 16;
  std::string only;

  mt::network links() const { return {{{"ranks", latency, mbit * 1e6 / 8}}, {}, false}; }
  std::int64_t width_of() const { return std::lround(std::sqrt(megabytes * 1e6 / 4 / layer_count)); }
};

/// The rates with which a replica alone takes the seconds of the options for a step.
inline mt::rates rates_of(options const& o) {
  std::int64_t const w = o.width_of();
  mt::draft<step_of_all> const alone(ranks(1), batch(batch_of_one), width(w), next(w));
  mt::rates r{1e9, 1e12};
  for (int i = 0; i < 5; ++i) r.flops *= mt::predict(alone, {{"ranks", 0, 1}}, r).computed / o.compute;
  return r;
}

/// Takes the time of steps, the first ones left out, and prints it beside the prediction.
template <class Executable, class... Extents>
void measure(mt::job const& job, options const& o, char const* name, Extents const&... extents) {
  if (!o.only.empty() && o.only != name) return;
  int const warm = 8;  // a period of local SGD
  mt::rates const r = rates_of(o);
  mt::draft<Executable> const planned(extents...);
  mt::predicted_run const run = mt::predict(planned, o.links(), r, warm + o.steps);
  auto const at = [](int step) { return static_cast<std::size_t>(step); };
  double const predicted = (run.ended(at(warm + o.steps - 1)) - run.ended(at(warm - 1))) / o.steps;
  sleeping_device::plan(planned.graph(), planned.planned().numbers, r);
  mt::store weights(job);
  Executable step(weights, extents...);
  std::vector<float> const x(static_cast<std::size_t>(o.width_of() * batch_of_one * job.get().size()));
  auto const seconds = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  double begin = 0;
  for (int k = 0; k < warm + o.steps; ++k) {
    if (k == warm) begin = seconds();
    step(mt::feed<"x">(x));
  }
  double const measured = (seconds() - begin) / o.steps;
  mt::step_traffic const traffic = mt::traffic_of(planned.graph(), planned.planned());
  mt::print(job,
            "{{\"regime\": \"{}\", \"mbit\": {}, \"measured_ms\": {:.1f}, \"predicted_ms\": {:.1f}, \"mb\": {:.2f}}}\n",
            name, o.mbit, 1e3 * measured, 1e3 * predicted, static_cast<double>(traffic.bytes) / 1e6);
}

inline void measure_all(mt::job const& job, options const& o) {
  int const n = job.get().size();
  std::int64_t const w = o.width_of();
  auto const under = [&]<class Policy>(char const* name, Policy) {
    measure<step_of<step_alone, Policy, sleeping_device>>(job, o, name, ranks(n), replica(n), batch(batch_of_one),
                                                          width(w), next(w));
  };
  measure<step_of_all>(job, o, "data parallel", ranks(n), batch(n * batch_of_one), width(w), next(w));
  under("synchronous", mt::synchronous{});
  under("push", mt::stochastic_gradient_push<>{});
  under("overlapped push", mt::overlapped_gradient_push<>{});
  under("local SGD of 8", mt::local_sgd<8>{});
}

}  // namespace regime_steps

int main(int argc, char** argv) {
  regime_steps::options o;
  CLI::App app("Seconds of steps of replicas over real links");
  app.add_option("--mbit", o.mbit, "What a rank sends in a second, for the prediction");
  app.add_option("--latency", o.latency, "Seconds of a message, for the prediction");
  app.add_option("--compute", o.compute, "Seconds that a step computes, which the device sleeps");
  app.add_option("--megabytes", o.megabytes, "Of parameters, f32");
  app.add_option("--steps", o.steps, "Steps, a multiple of 8");
  app.add_option("--only", o.only, "One policy alone");
  try {
    app.parse(argc, argv);
    mt::job const job(argc, argv);
    regime_steps::measure_all(job, o);
  } catch (CLI::Error const& e) { return app.exit(e); } catch (mt::error const& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}

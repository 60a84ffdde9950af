// SPDX-License-Identifier: Apache-2.0
// A training step of a decoder Transformer on tokens: how long it takes, and how long its own matrix products would
// take alone, each by the fastest form that oneDNN has for its shape. Prints one line of JSON.
//
//   cmake --preset quickstart -DMESHTENSOR_BENCH=ON && cmake --build build/quickstart --target bench_run_lm_step
//   build/quickstart/bench/run/lm_step [--size lm|lm_base|tiny] [--layers N …] [--data 1 --model 1]
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <meshtensor/device/default.hpp>
#include <meshtensor/inspect/profile.hpp>
#include <meshtensor/inspect/simulate.hpp>
#include <meshtensor/job/main.hpp>
#include <meshtensor/pass/cost.hpp>

#include "lm.hpp"
#include "products.hpp"

namespace lm {

std::int64_t peak_resident_mb() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss / 1024;
}
double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

template <class Step, class Layout = layout>
void run(mt::job const& job, std::string const& name, std::string const& type, sizes const& z, std::int64_t on_data,
         std::int64_t on_model, int steps, bool profiled, bool bare) {
  double const begin = now();
  mt::store weights(job);
  mt::executable<Step, mesh, Layout, mt::default_device> train(
      weights, data(on_data), model(on_model), batch(z.batch), length(z.length), layers(z.layers), d_model(z.d_model),
      heads(z.heads), d_head(z.d_model / z.heads), d_ff(z.d_ff), vocab(z.vocab));
  batches fed(z);
  auto const one = [&] {
    fed.draw();
    return static_cast<double>(train(mt::feed<"text">(fed.text), mt::feed<"next">(fed.next)).template get<"loss">());
  };
  double const bound = now() - begin;
  auto const said = static_cast<double>(train.memory().all());
  double const first = one();
  if (bare) {
    for (int i = 0; i < steps; ++i) one();
    return;
  }
  double const start_up = now() - begin;
  double last = one();
  std::int64_t const resident = peak_resident_mb();  // before what is only measured against
  auto const own = bench::products_of(train.graph(), train.planned().numbers, type);
  std::vector<double> took, alone;
  for (int i = 0; i < steps; ++i) {  // in turn, so that a machine whose speed drifts is fair to both
    double const t = now() + job.get().ahead();
    last = one();
    took.push_back(now() + job.get().ahead() - t);
    if (i % std::max(1, steps / 20) != 0) continue;
    alone.push_back(bench::seconds_alone(own));
    // OpenMP's threads look for more work for a while, on cores that a step needs.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    one();
  }
  train.record();
  for (int i = 0; i < steps; ++i) one();
  if (profiled) mt::print(job, "{}", mt::profile(train));
  auto const* const modelled = dynamic_cast<mt::simulated_runner const*>(&job.get());
  double const network = modelled == nullptr ? 0 : modelled->communicated() / static_cast<double>(weights.step());
  double const exposed = mt::exposed_communication(train.graph(), *train.recorded()[0]);
  auto const flops = static_cast<double>(mt::work_of(train.graph(), train.planned().numbers).products);
  std::int64_t const received = mt::traffic_of(train.graph(), train.planned()).bytes;
  double const stored = static_cast<double>(train.planned().arena_bytes + train.planned().variable_bytes);
  mt::print(job,
            "{{\"peer\": \"meshtensor\", \"workload\": \"{}\", \"dtype\": \"{}\", \"mesh\": \"data={},model={}\", "
            "\"step_ms\": {:.2f}, \"min_ms\": {:.2f}, "
            "\"products_alone_ms\": {:.2f}, \"alone_over_step\": {:.3f}, \"gflops\": {:.1f}, \"exposed_ms\": {:.2f}, "
            "\"network_ms\": {:.2f}, \"received_mb\": {:.1f}, "
            "\"bind_s\": {:.3f}, "
            "\"start_up_s\": {:.2f}, "
            "\"peak_rss_mb\": {}, \"planned_mb\": {:.0f}, \"peak_over_said\": {:.3f}, \"loss_first\": {:.4f}, "
            "\"loss_last\": {:.4f}}}\n",
            name, type, on_data, on_model, median(took) * 1e3, *std::min_element(took.begin(), took.end()) * 1e3,
            median(alone) * 1e3, median(alone) / median(took), flops / median(took) * 1e-9, exposed * 1e3,
            network * 1e3, static_cast<double>(received) / 1e6, bound, start_up, resident, stored / 1048576,
            static_cast<double>(resident) * 1048576 / said, first, last);
}

}  // namespace lm

int main(int argc, char** argv) {
  CLI::App app("A training step of a decoder Transformer, beside its own matrix products alone.");
  std::string name = "lm";
  app.add_option("--size", name)->check(CLI::IsMember({"lm", "lm_base", "tiny"}));
  std::string type = "f32";
  app.add_option("--dtype", type)->check(CLI::IsMember({"f32", "f64", "bf16"}));
  lm::sizes given{0, 0, 0, 0, 0, 0, 0};
  app.add_option("--layers", given.layers);
  app.add_option("--d-model", given.d_model);
  app.add_option("--heads", given.heads);
  app.add_option("--d-ff", given.d_ff);
  app.add_option("--length", given.length);
  app.add_option("--batch", given.batch);
  app.add_option("--vocab", given.vocab);
  std::int64_t on_data = 1, on_model = 1;
  app.add_option("--data", on_data, "Processors along data");
  app.add_option("--model", on_model, "Processors along model");
  int steps = 7;
  app.add_option("--steps", steps, "Steps to time")->check(CLI::PositiveNumber);
  bool again = false;
  app.add_flag("--rematerialize", again, "Make layers again for their gradient (f32)");
  bool vocab_too = false;
  app.add_flag("--shard-vocab", vocab_too, "The vocabulary over model, too (f32)");
  double gbit = 0, latency = 20;
  app.add_option("--gbit", gbit, "Run one processor of the mesh, with a model of a network of so many Gbit/s");
  app.add_option("--latency", latency, "… and so many microseconds a message");
  bool profiled = false;
  app.add_flag("--profile", profiled, "Also a table of where the time of a step goes");
  bool bare = false;
  app.add_flag("--bare", bare,
               "Nothing but the steps, for counts of instructions: what N steps take less what 1 takes");
  CLI11_PARSE(app, argc, argv);
  lm::sizes z = lm::known.at(name);
  auto const choose = [](std::int64_t& to, std::int64_t from) { to = from == 0 ? to : from; };
  choose(z.layers, given.layers), choose(z.d_model, given.d_model), choose(z.heads, given.heads);
  choose(z.d_ff, given.d_ff), choose(z.length, given.length), choose(z.batch, given.batch),
      choose(z.vocab, given.vocab);
  if (vocab_too && (type != "f32" || again)) {
    fmt::print(stderr, "lm_step: --shard-vocab is there in f32 alone, without --rematerialize\n");
    return 1;
  }
  auto* const run = vocab_too        ? lm::run<lm::step_f32, lm::vocab_too>
                    : type == "f64"  ? lm::run<lm::step_f64>
                    : type == "bf16" ? lm::run<lm::step_bf16>
                    : again          ? lm::run<lm::step_again>
                                     : lm::run<lm::step_f32>;
  return meshtensor::run_main([&](meshtensor::job const& job) {
    if (gbit == 0) return run(job, name, type, z, on_data, on_model, steps, profiled, bare);
    using namespace meshtensor;
    double const seconds = latency * 1e-6, bytes = gbit * 1e9 / 8;
    std::vector<meshtensor::link> network{{"data", seconds, bytes}, {"model", seconds, bytes}};
    run(meshtensor::job(std::make_unique<simulated_runner>(std::move(network))), name, type, z, on_data, on_model,
        steps, profiled, bare);
  });
}

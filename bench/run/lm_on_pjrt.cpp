// SPDX-License-Identifier: Apache-2.0
// The training step of lm_step.cpp on a device of a PJRT plugin: how long the plugin takes to start and to compile, how
// much longer the first step takes, and how long a step takes later. Prints one line of JSON, as bench/peers do.
// passes: start-up
//
//   MESHTENSOR_PJRT=…/xla_cuda_plugin.so build/quickstart/bench/run/lm_on_pjrt [--size lm|lm_base|tiny] [--dtype bf16]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>

#include <meshtensor/device/pjrt/device.hpp>
#include <meshtensor/job/main.hpp>
#include <meshtensor/pass/cost.hpp>

#include "lm.hpp"

namespace lm {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class Step>
void run(mt::job const& job, std::string const& name, std::string const& type, sizes const& z, std::int64_t on_data,
         std::int64_t on_model, int steps) {
  double const begin = now();
  auto const& devices = mt::pjrt::device_client::of_file(mt::pjrt::plugin_to_use());
  double const plugin = now() - begin;
  mt::store weights(job);
  mt::executable<Step, mesh, layout, mt::pjrt_device> train(
      weights, data(on_data), model(on_model), batch(z.batch), length(z.length), layers(z.layers), d_model(z.d_model),
      heads(z.heads), d_head(z.d_model / z.heads), d_ff(z.d_ff), vocab(z.vocab));
  double const compiled = now() - begin - plugin;
  batches fed(z);
  auto const one = [&] {
    fed.draw();
    double const from = now();
    double const loss = train(mt::feed<"text">(fed.text), mt::feed<"next">(fed.next)).template get<"loss">();
    return std::pair(now() - from, loss);
  };
  auto const [first_step, first] = one();
  for (int i = 0; i < 2; ++i) one();
  std::vector<double> took;
  double last = 0;
  for (int i = 0; i < steps; ++i) {
    auto const [seconds, loss] = one();
    took.push_back(seconds), last = loss;
  }
  std::sort(took.begin(), took.end());
  double const median = took[took.size() / 2];
  auto const flops = static_cast<double>(mt::work_of(train.graph(), train.planned().numbers).products);
  mt::print(job,
            "{{\"peer\": \"meshtensor pjrt\", \"device\": \"{}\", \"workload\": \"{}\", \"dtype\": \"{}\", "
            "\"mesh\": \"data={},model={}\", \"step_ms\": {:.3f}, \"min_ms\": {:.3f}, \"gflops\": {:.1f}, "
            "\"plugin_s\": {:.3f}, \"compile_s\": {:.3f}, \"first_step_s\": {:.3f}, \"loss_first\": {:.4f}, "
            "\"loss_last\": {:.4f}}}\n",
            devices.kind(0), name, type, on_data, on_model, median * 1e3, took[0] * 1e3, flops / median * 1e-9, plugin,
            compiled, first_step, first, last);
}

}  // namespace lm

int main(int argc, char** argv) {
  CLI::App app("A training step of a decoder Transformer on a device of a PJRT plugin.");
  std::string name = "lm";
  app.add_option("--size", name)->check(CLI::IsMember({"lm", "lm_base", "tiny"}));
  std::string type = "f32";
  app.add_option("--dtype", type)->check(CLI::IsMember({"f32", "f64", "bf16"}));
  lm::sizes given{0, 0, 0, 0, 0, 0, 0};
  app.add_option("--layers", given.layers);
  app.add_option("--length", given.length);
  app.add_option("--batch", given.batch);
  std::int64_t on_data = 1, on_model = 1;
  app.add_option("--data", on_data, "Devices along data");
  app.add_option("--model", on_model, "Devices along model");
  int steps = 20;
  app.add_option("--steps", steps, "Steps to time")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  lm::sizes z = lm::known.at(name);
  auto const choose = [](std::int64_t& to, std::int64_t from) { to = from == 0 ? to : from; };
  choose(z.layers, given.layers), choose(z.length, given.length), choose(z.batch, given.batch);
  auto* const run = type == "f64"    ? lm::run<lm::step_f64>
                    : type == "bf16" ? lm::run<lm::step_bf16>
                                     : lm::run<lm::step_f32>;
  auto const job = meshtensor::job::in_lockstep();
  try {
    run(job, name, type, z, on_data, on_model, steps);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "lm_on_pjrt: %s\n", e.what());
    return 1;
  }
}

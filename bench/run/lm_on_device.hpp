// SPDX-License-Identifier: Apache-2.0
// Measures the training step of lm_step.cpp on a device beside the cpu: how long it takes to start and to compile, how
// much longer the first step takes, and how long a step takes later. Prints one line of JSON, as bench/peers do.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>

#include <meshtensor/job/main.hpp>
#include <meshtensor/pass/cost.hpp>

#include "lm.hpp"
#include "started.hpp"

namespace lm {

template <class Device, class Step>
void run(mt::job const& job, started const& s, std::string const& name, std::string const& type, sizes const& z,
         std::int64_t on_data, std::int64_t on_model, int steps) {
  double const begin = now();
  mt::store weights(job);
  mt::executable<Step, mesh, layout, Device> train(
      weights, data(on_data), model(on_model), batch(z.batch), length(z.length), layers(z.layers), d_model(z.d_model),
      heads(z.heads), d_head(z.d_model / z.heads), d_ff(z.d_ff), vocab(z.vocab));
  double const compiled = now() - begin;
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
  std::string own;  // what is neither the compilation nor a step
  if constexpr (requires { Device::seconds; })
    own = fmt::format("\"own_start_s\": {:.3f}, ", compiled - Device::seconds + first_step - median);
  auto const flops = static_cast<double>(mt::work_of(train.graph(), train.planned().numbers).products);
  mt::print(job,
            "{{\"peer\": \"meshtensor {}\", \"device\": \"{}\", \"workload\": \"{}\", \"dtype\": \"{}\", "
            "\"mesh\": \"data={},model={}\", \"step_ms\": {:.3f}, \"min_ms\": {:.3f}, \"gflops\": {:.1f}, "
            "\"start_s\": {:.3f}, \"compile_s\": {:.3f}, \"first_step_s\": {:.3f}, {}\"loss_first\": {:.4f}, "
            "\"loss_last\": {:.4f}}}\n",
            s.peer, s.kind, name, type, on_data, on_model, median * 1e3, took[0] * 1e3, flops / median * 1e-9,
            s.seconds, compiled, first_step, own, first, last);
}

/// The whole program: `start` brings the device up.
template <class Device, class Start>
int measure(int argc, char** argv, char const* program, Start const& start) {
  CLI::App app("A training step of a decoder Transformer on one device.");
  std::string name = "lm";
  app.add_option("--size", name)->check(CLI::IsMember({"lm", "lm_base", "tiny"}));
  std::string type = "f32";
  app.add_option("--dtype", type)->check(CLI::IsMember({"f32", "f64", "bf16"}));
  sizes given{0, 0, 0, 0, 0, 0, 0};
  app.add_option("--layers", given.layers);
  app.add_option("--length", given.length);
  app.add_option("--batch", given.batch);
  std::int64_t on_data = 1, on_model = 1;
  app.add_option("--data", on_data, "Devices along data");
  app.add_option("--model", on_model, "Devices along model");
  int steps = 20;
  app.add_option("--steps", steps, "Steps to time")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  sizes z = known.at(name);
  auto const choose = [](std::int64_t& to, std::int64_t from) { to = from == 0 ? to : from; };
  choose(z.layers, given.layers), choose(z.length, given.length), choose(z.batch, given.batch);
  auto* const chosen = type == "f64"    ? run<Device, step_f64>
                       : type == "bf16" ? run<Device, step_bf16>
                                        : run<Device, step_f32>;
  auto const job = meshtensor::job::in_lockstep();
  try {
    std::string const text = given.length == 0 ? "" : " of " + std::to_string(z.length);
    chosen(job, start(), name + text, type, z, on_data, on_model, steps);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s: %s\n", program, e.what());
    return 1;
  }
  return 0;
}

}  // namespace lm

// SPDX-License-Identifier: Apache-2.0
// Measures a training step of ResNet-50 on images of 224 x 224 on a device beside the cpu: how long it takes to start
// and to compile, how much longer the first step takes, and how long a step takes later. Prints one line of JSON, as
// bench/peers/torch_resnet.py does.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <random>
#include <vector>

#include <meshtensor/job/main.hpp>

#include "../../examples/resnet/programs.hpp"
#include "../../examples/resnet/sizes.hpp"
#include "started.hpp"

namespace resnet {

struct learn_f32 : mt::precision<train_step<bottleneck, with_nesterov>, mt::f32> {};
struct learn_bf16 : mt::precision<train_step<bottleneck, with_nesterov>, mt::f32, mt::bf16> {};

template <class Device, class Program>
void run(mt::job const& job, started const& s, options const& o, int steps) {
  double const begin = now();
  mt::store weights(job);
  using executable = mt::executable<Program, mesh, layout, Device>;
  auto const train = made<executable>(weights, sizes<bottleneck>(o, o.classes, batch(o.batch)));
  double const compiled = now() - begin;
  auto const count = static_cast<std::size_t>(o.batch);
  std::vector<float> images(count * static_cast<std::size_t>(o.size * o.size) * 3), counts(count, 1);
  std::vector<std::int32_t> labels(count);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (float& x : images) x = normal(random);
  for (std::int32_t& label : labels) label = static_cast<std::int32_t>(random() % static_cast<unsigned>(o.classes));
  auto const one = [&] {
    double const from = now();
    auto const loss = static_cast<double>((*train)(mt::feed<"images">(images), mt::feed<"labels">(labels),
                                                   mt::feed<"counts">(counts), mt::set<"learning_rate">(0.01))
                                              .template get<"loss">());
    return std::pair(now() - from, loss);
  };
  auto const [first_step, first] = one();
  for (int i = 0; i < 2; ++i) one();
  std::vector<double> took;
  double last_loss = 0;
  for (int i = 0; i < steps; ++i) {
    auto const [seconds, loss] = one();
    took.push_back(seconds), last_loss = loss;
  }
  std::sort(took.begin(), took.end());
  double const median = took[took.size() / 2];
  std::string own;  // what is neither the compilation nor a step
  if constexpr (requires { Device::seconds; })
    own = fmt::format("\"own_start_s\": {:.3f}, ", compiled - Device::seconds + first_step - median);
  mt::print(job,
            "{{\"peer\": \"meshtensor {}\", \"device\": \"{}\", \"workload\": \"resnet50\", \"dtype\": \"{}\", "
            "\"batch\": {}, \"step_ms\": {:.3f}, \"min_ms\": {:.3f}, \"images_per_s\": {:.1f}, \"start_s\": {:.3f}, "
            "\"compile_s\": {:.3f}, \"first_step_s\": {:.3f}, {}\"loss_first\": {:.4f}, \"loss_last\": {:.4f}}}\n",
            s.peer, s.kind, o.dtype, o.batch, median * 1e3, took[0] * 1e3, static_cast<double>(o.batch) / median,
            s.seconds, compiled, first_step, own, first, last_loss);
}

/// The whole program: `start` brings the device up.
template <class Device, class Start>
int measure(int argc, char** argv, char const* program, Start const& start) {
  CLI::App app("A training step of ResNet-50 on one device.");
  options o;
  o.batch = 64, o.classes = 1000;
  app.add_option("--dtype", o.dtype)->check(CLI::IsMember({"f32", "bf16"}));
  app.add_option("--batch", o.batch);
  app.add_option("--size", o.size, "Pixels of a side");
  app.add_option("--width", o.width, "Channels of the first stage");
  app.add_option("--classes", o.classes);
  int steps = 20;
  app.add_option("--steps", steps, "Steps to time")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  auto const job = meshtensor::job::in_lockstep();
  try {
    auto* const chosen = o.dtype == "bf16" ? run<Device, learn_bf16> : run<Device, learn_f32>;
    chosen(job, start(), o, steps);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s: %s\n", program, e.what());
    return 1;
  }
  return 0;
}

}  // namespace resnet

// SPDX-License-Identifier: Apache-2.0
// A training step of examples/transformer, at its own sizes, on a device of a PJRT plugin. Prints one line of JSON.
// passes: start-up
//
//   MESHTENSOR_PJRT=…/xla_cpu_pjrt.so build/quickstart/bench/run/transformer_on_pjrt
#include <meshtensor/device/pjrt/device.hpp>

#include <algorithm>
#include <exception>
#include <random>
#include <vector>

#include <meshtensor/job/main.hpp>

#include "../../examples/transformer.hpp"
#include "../../examples/transformer/command_line.hpp"
#include "started.hpp"

namespace mt = meshtensor;
using namespace transformer;

namespace {

void run(mt::job const& job) {
  using on = timed_compilation<mt::pjrt_device>;
  started const s = start_device(
      "pjrt", [] { return std::string(mt::pjrt::device_client::of_file(mt::pjrt::plugin_to_use()).kind(0)); });
  options const o;
  std::int64_t const texts = 16, head_count = 4;
  double const begin = now();
  mt::store weights(job);
  mt::executable<train_step, transformer::mesh, transformer::layout, on> train(
      weights, data(1), model(1), batch(texts), length(o.length), layers(o.layers), d_model(o.d_model),
      heads(head_count), d_head(o.d_model / head_count), d_ff(4 * o.d_model));
  double const compiled = now() - begin;
  std::mt19937 random(1);
  std::vector<std::uint8_t> text(static_cast<std::size_t>(texts * o.length));
  for (std::uint8_t& t : text) t = static_cast<std::uint8_t>(random() % 64);
  std::vector<double> took;
  double first_step = 0, loss = 0;
  for (int i = 0; i < 21; ++i) {
    double const from = now();
    loss = static_cast<double>(train(mt::feed<"text">(text), mt::feed<"next">(text)).get<"loss">());
    if (i == 0) first_step = now() - from;
    else took.push_back(now() - from);
  }
  std::ranges::sort(took);
  double const median = took[took.size() / 2];
  mt::print(job,
            "{{\"peer\": \"meshtensor {}\", \"device\": \"{}\", \"workload\": \"transformer\", \"step_ms\": {:.3f}, "
            "\"start_s\": {:.3f}, \"compile_s\": {:.3f}, \"first_step_s\": {:.3f}, \"own_start_s\": {:.3f}, "
            "\"loss_last\": {:.4f}}}\n",
            s.peer, s.kind, median * 1e3, s.seconds, compiled, first_step, compiled - on::seconds + first_step - median,
            loss);
}

}  // namespace

int main() {
  auto const job = meshtensor::job::in_lockstep();
  try {
    run(job);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "transformer_on_pjrt: %s\n", e.what());
    return 1;
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// What checkpoints cost a training: the Transformer of the examples, a hundred steps with one save and a hundred
// without, in turn; and how soon a new process could go on. Prints one line of JSON.
//
//   build/quickstart/bench/run/checkpoint [--layers N …] [--rounds N] [--folder F]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <random>
#include <vector>

#include <meshtensor/device/default.hpp>
#include <meshtensor/io/checkpoint.hpp>
#include <meshtensor/run/main.hpp>

#include "../../examples/transformer.hpp"

namespace {

using namespace transformer;
using training = mt::executable<programs, train_step, transformer::mesh, transformer::layout, mt::default_device>;

struct sizes {
  std::int64_t layers = 4, d_model = 128, d_ff = 512, heads = 4, length = 64, batch = 16, on_data = 1, on_model = 1;
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

struct trainer {
  explicit trainer(mt::processors const& job, sizes const& z)
      : weights(job, 1),
        step(weights, data(z.on_data), model(z.on_model), batch(z.batch), length(z.length), layers(z.layers),
             d_model(z.d_model), heads(z.heads), d_head(z.d_model / z.heads), d_ff(z.d_ff)),
        text(static_cast<std::size_t>(z.batch * z.length)),
        next(text.size()) {
    std::mt19937 random(1);
    for (auto& byte : text) byte = static_cast<std::uint8_t>(random() % 64);
    for (std::size_t i = 0; i < text.size(); ++i) next[i] = static_cast<std::uint8_t>(text[i] * 3 % 64);
  }
  void once() {
    step(mt::feed<"text">(text), mt::feed<"next">(next), mt::set<"steps">(1e6), mt::set<"learning_rate">(1e-4),
         mt::set<"dropout">(0), mt::set<"warmup">(100));
  }

  mt::store weights;
  training step;
  std::vector<std::uint8_t> text, next;
};

int run(mt::processors const& job, sizes const& z, int rounds, std::string const& folder) {
  trainer t(job, z);
  mt::checkpoints keep(t.weights, folder, {.every = 100, .keep = 2});
  for (int i = 0; i < 5; ++i) t.once();
  keep.save(), keep.finish();  // takes the memory for the copy
  std::vector<double> with, without, waits, takes, at_once;
  for (int round = 0; round < rounds; ++round)
    for (bool const saves : {round % 2 == 0, round % 2 != 0}) {
      t.weights.set_step(static_cast<std::uint64_t>(100 * (2 * round + 1)) + 50);
      double const begin = now();
      for (int i = 0; i < 100; ++i) {
        t.once();
        double const done = now();
        if (saves) keep.after_step();
        if (saves && t.weights.step() % 100 == 0) waits.push_back(now() - done);
      }
      if (saves) keep.finish();
      (saves ? with : without).push_back(now() - begin);
    }
  for (int i = 0; i < 5; ++i) {
    double const begin = now(), taken = processor_seconds();
    keep.save(), keep.finish();
    at_once.push_back(now() - begin), takes.push_back(processor_seconds() - taken);
  }
  std::int64_t bytes = 0;
  for (auto const& [label, s] : t.weights.values()) bytes += s.bytes();

  double const begin = now();
  trainer again(job, z);
  double const made = now() - begin;
  mt::load(again.weights, folder);
  double const loaded = now() - begin - made;
  again.once();
  double const first = now() - begin;
  mt::print(job,
            "{{\"workload\": \"checkpoint\", \"layers\": {}, \"d_model\": {}, \"processors\": {}, \"mbytes\": {:.1f}, "
            "\"step_ms\": {:.2f}, \"overhead_percent\": {:.2f}, \"step_waits_ms\": {:.2f}, \"processors_ms\": {:.1f}, "
            "\"save_ms\": {:.1f}, \"load_ms\": {:.1f}, "
            "\"made_and_first_step_s\": {:.3f}}}\n",
            z.layers, z.d_model, z.on_data * z.on_model, static_cast<double>(bytes) / 1e6, median(without) * 10,
            100 * (median(with) / median(without) - 1), 1e3 * median(waits), 1e3 * median(takes), 1e3 * median(at_once),
            1e3 * loaded, first);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return mt::run_main(argc, argv, [&](mt::processors const& job) {
    CLI::App app("What checkpoints cost a training");
    sizes z;
    int rounds = 5;
    std::string folder = "checkpoints.bench";
    app.add_option("--layers", z.layers)->capture_default_str();
    app.add_option("--d-model", z.d_model)->capture_default_str();
    app.add_option("--d-ff", z.d_ff)->capture_default_str();
    app.add_option("--heads", z.heads)->capture_default_str();
    app.add_option("--length", z.length)->capture_default_str();
    app.add_option("--batch", z.batch)->capture_default_str();
    app.add_option("--data", z.on_data)->capture_default_str();
    app.add_option("--model", z.on_model)->capture_default_str();
    app.add_option("--rounds", rounds)->capture_default_str();
    app.add_option("--folder", folder, "Where to write; it is removed at the end")->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    int const code = run(job, z, rounds, folder);
    if (job.speaks()) std::filesystem::remove_all(folder);
    return code;
  });
}

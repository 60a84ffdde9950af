// SPDX-License-Identifier: Apache-2.0
// What checkpoints cost a training: the Transformer of the examples, a hundred steps with one save and a hundred
// without, in turn, each pair a ratio; and how long a new process takes to its first step, when it goes on from a
// checkpoint and when it begins, in turn. Prints one line of JSON.
//
//   build/quickstart/bench/run/checkpoint [--layers N …] [--rounds N] [--folder F]
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <meshtensor/device/default.hpp>
#include <meshtensor/io/checkpoint.hpp>
#include <meshtensor/job/launch.hpp>
#include <meshtensor/job/main.hpp>

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

std::string spread_text(std::vector<double> v) {
  auto const [least, greatest] = std::minmax_element(v.begin(), v.end());
  return fmt::format("{{\"median\": {:.2f}, \"least\": {:.2f}, \"greatest\": {:.2f}}}", median(v), *least, *greatest);
}

struct trainer {
  explicit trainer(mt::job const& job, sizes const& z)
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

/// What a process does that is started again: to its first step, from the newest checkpoint or from none. Prints the
/// time.
int start(mt::job const& job, sizes const& z, std::string const& folder, bool resumed) {
  trainer t(job, z);
  if (resumed && !mt::checkpoints(t.weights, folder, {.keep = 2}).resume()) {
    mt::progress(job, "'{}' has no checkpoint to go on from\n", folder);
    return 1;
  }
  t.once();
  mt::print(job, "{:.6f}\n", now());
  return 0;
}

/// Seconds from the start of a process of this program with these words to the end of its first step.
double seconds_of_start(std::vector<std::string> words, std::string const& how) {
  words.insert(words.end(), {"--start", how});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("there is no pipe for another process");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  double const begin = now();
  pid_t child = 0;
  bool const started = ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string said;
  char some[64];
  for (ssize_t n = 0; (n = ::read(ends[0], some, sizeof some)) > 0;) said.append(some, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 1;
  if (!started || ::waitpid(child, &status, 0) != child || status != 0 || said.empty())
    throw std::runtime_error("a process of this program that was started again made no step");
  return std::strtod(said.c_str(), nullptr) - begin;
}

int run(mt::job const& job, sizes const& z, int rounds, std::string const& folder,
        std::vector<std::string> const& words) {
  trainer t(job, z);
  mt::checkpoints keep(t.weights, folder, {.every = 100, .keep = 2});
  for (int i = 0; i < 5; ++i) t.once();
  keep.save(), keep.finish();  // takes the memory for the copy
  std::vector<double> with, without, overhead, waits, takes, at_once;
  for (int round = 0; round < rounds; ++round) {
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
    overhead.push_back(100 * (with.back() / without.back() - 1));
  }
  for (int i = 0; i < 5; ++i) {
    double const begin = now(), taken = processor_seconds();
    keep.save(), keep.finish();
    at_once.push_back(now() - begin), takes.push_back(processor_seconds() - taken);
  }
  std::int64_t bytes = 0;
  for (auto const& [label, s] : t.weights.values()) bytes += s.bytes();

  std::vector<double> loads, resumed, begun;
  for (int i = 0; i < 5; ++i) {
    double const begin = now();
    mt::load(t.weights, folder);
    loads.push_back(now() - begin);
  }
  bool const starts = mt::launched_processes() == 0;  // a rank cannot start the others again
  for (int round = 0; starts && round < rounds; ++round)
    for (bool const goes_on : {round % 2 == 0, round % 2 != 0})
      (goes_on ? resumed : begun).push_back(seconds_of_start(words, goes_on ? "resumed" : "new"));
  mt::print(job,
            "{{\"workload\": \"checkpoint\", \"layers\": {}, \"d_model\": {}, \"processors\": {}, \"mbytes\": {:.1f}, "
            "\"rounds\": {}, \"step_ms\": {:.2f}, \"overhead_percent\": {}, \"step_waits_ms\": {:.2f}, "
            "\"processors_ms\": {:.1f}, \"save_ms\": {:.1f}, \"load_ms\": {:.1f}, \"resumed_first_step_s\": {}, "
            "\"new_first_step_s\": {}}}\n",
            z.layers, z.d_model, z.on_data * z.on_model, static_cast<double>(bytes) / 1e6, rounds, median(without) * 10,
            spread_text(overhead), 1e3 * median(waits), 1e3 * median(takes), 1e3 * median(at_once), 1e3 * median(loads),
            starts ? spread_text(resumed) : "null", starts ? spread_text(begun) : "null");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return mt::run_main([&](mt::job const& job) {
    CLI::App app("What checkpoints cost a training");
    sizes z;
    int rounds = 5;
    std::string folder = "checkpoints.bench", how;
    app.add_option("--layers", z.layers)->capture_default_str();
    app.add_option("--d-model", z.d_model)->capture_default_str();
    app.add_option("--d-ff", z.d_ff)->capture_default_str();
    app.add_option("--heads", z.heads)->capture_default_str();
    app.add_option("--length", z.length)->capture_default_str();
    app.add_option("--batch", z.batch)->capture_default_str();
    app.add_option("--data", z.on_data)->capture_default_str();
    app.add_option("--model", z.on_model)->capture_default_str();
    app.add_option("--rounds", rounds)->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--folder", folder, "Where to write; it is removed at the end")->capture_default_str();
    app.add_option("--start", how, "Make one step, after the newest checkpoint or as a new training")
        ->check(CLI::IsMember({"resumed", "new"}));
    CLI11_PARSE(app, argc, argv);
    if (!how.empty()) return start(job, z, folder, how == "resumed");
    int const code = run(job, z, rounds, folder, {argv, argv + argc});
    if (job.is_root()) std::filesystem::remove_all(folder);
    return code;
  });
}

// The command line of the Transformer example.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <map>
#include <string>

#include <meshtensor/run/processors.hpp>

namespace transformer {

struct options {
  std::string text, device = "cpu", dot, prompt = "\n";
  std::map<std::string, std::int64_t> mesh;
  std::int64_t batch = 16, length = 64, layers = 4, d_model = 128, heads = 4, d_head = 0, d_ff = 0;
  std::int64_t steps = 0, warmup = 100, evaluations = 10, sample_bytes = 400, threads = 0;
  double minutes = 0, learning_rate = 2e-3, dropout = 0, temperature = 0.7;
  std::uint64_t seed = 1;
  bool explain = false;
};

/// Reads the command line. Gives the exit code if there is nothing to run: 0 after --help, 2 after a mistake; else -1.
inline int read_command_line(meshtensor::processors const& job, int argc, char** argv, options& o) {
  CLI::App app(
      "Trains a Transformer that reads and writes bytes on a mesh of processors, data x model, and prints what it writes.\n"
      "Alone, the processors are threads of this process; under mpirun they are its ranks. Standard output is the same.\n"
      "The exit code is 1 if the text that was held out is not predicted better than by a bigram model.",
      "transformer");
  app.option_defaults()->always_capture_default();
  auto const positive = CLI::Range(std::int64_t{1}, std::int64_t{1} << 40);
  auto const share = CLI::Range(0.0, 0.999);

  app.add_option("--text", o.text, "File to learn from (the library's own headers and documentation)")
      ->type_name("FILE")
      ->capture_default_str();
  app.add_option("--steps", o.steps, "Steps to train (1500; with --minutes, as many as fit)")->check(positive)->default_str("");
  app.add_option("--minutes", o.minutes, "Stop training after this time")->check(CLI::PositiveNumber)->default_str("");
  app.add_option("--seed", o.seed, "Of everything random");

  std::string mesh;
  char const* const processors = "Processors";
  app.add_option("--mesh", mesh, "Processors along each axis, e.g. data=2,model=2 (alone 2x2; under mpirun all ranks)")
      ->type_name("AXIS=N,...")
      ->default_str("")
      ->group(processors);
  app.add_option("--device", o.device, "What computes")->check(CLI::IsMember({"cpu", "reference"}))->group(processors);
  app.add_option("--threads", o.threads, "Threads of each processor (its share of the cores)")
      ->check(positive)
      ->default_str("")
      ->group(processors);

  char const* const size = "Size of the model and of a step";
  app.add_option("--batch", o.batch, "Windows in one step")->check(positive)->group(size);
  app.add_option("--length", o.length, "Bytes in a window")->check(positive)->group(size);
  app.add_option("--layers", o.layers, "Layers of the decoder")->check(positive)->group(size);
  app.add_option("--d-model", o.d_model, "Width of a layer")->check(positive)->group(size);
  app.add_option("--heads", o.heads, "Heads of attention")->check(positive)->group(size);
  app.add_option("--d-head", o.d_head, "Width of a head (d-model / heads)")->check(positive)->default_str("")->group(size);
  app.add_option("--d-ff", o.d_ff, "Width of the feed-forward part (4 d-model)")->check(positive)->default_str("")->group(size);

  char const* const training = "Training";
  app.add_option("--learning-rate", o.learning_rate, "Highest learning rate")->check(CLI::PositiveNumber)->group(training);
  app.add_option("--warmup", o.warmup, "Steps until it is reached")->check(CLI::NonNegativeNumber)->group(training);
  app.add_option("--dropout", o.dropout, "Share of activations that are dropped")->check(share)->group(training);
  app.add_option("--evaluations", o.evaluations, "How often the held-out text is looked at")->check(positive)->group(training);

  char const* const sample = "Sample";
  app.add_option("--sample-bytes", o.sample_bytes, "Bytes to write at the end")->check(CLI::NonNegativeNumber)->group(sample);
  app.add_option("--temperature", o.temperature, "0: always the likeliest byte; 1: as it is; higher: bolder")
      ->check(CLI::NonNegativeNumber)
      ->group(sample);
  app.add_option("--prompt", o.prompt, "What the sample begins with")->default_str("")->group(sample);

  char const* const plan = "Looking at the plan; nothing runs";
  app.add_flag("--explain", o.explain, "Print memory, communication and work of each processor, on a mesh of any size")->group(plan);
  app.add_option("--dot", o.dot, "Write the graph of one processor for Graphviz")->type_name("FILE")->default_str("")->group(plan);

  try {
    app.parse(argc, argv);
    for (auto const& part : CLI::detail::split(mesh, ',')) {
      if (mesh.empty()) break;
      auto const equals = part.find('=');
      std::string const axis = part.substr(0, equals), number = equals == std::string::npos ? "" : part.substr(equals + 1);
      std::int64_t n = 0;
      if ((axis != "data" && axis != "model") || !CLI::detail::lexical_cast(number, n) || n < 1 || n > 1 << 20 ||
          !o.mesh.emplace(axis, n).second)
        throw CLI::ValidationError("--mesh", "'" + mesh + "' is not like data=2,model=2");
    }
  } catch (CLI::ParseError const& e) {
    if (e.get_exit_code() == 0) {
      meshtensor::print(job, "{}", app.help());
      return 0;
    }
    meshtensor::progress(job, "transformer: {}; transformer --help lists all options\n", e.what());
    return 2;
  }
  if (o.d_head == 0) o.d_head = std::max<std::int64_t>(1, o.d_model / o.heads);
  if (o.d_ff == 0) o.d_ff = 4 * o.d_model;
  return -1;
}

}  // namespace transformer

// SPDX-License-Identifier: Apache-2.0
// Declares the options of the Transformer example, and chooses the mesh and sizes that are not given.
#include "command_line.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <string_view>

#include <meshtensor/base/diagnostic.hpp>

#include "../common/command_line.hpp"

namespace transformer {

using examples::between, examples::ending;

namespace {

/// A word, quoted if a shell would not read it back unchanged.
std::string quoted(std::string const& word) {
  auto const plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_-./:=,+@").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string r = "'";
  for (char const c : word) r += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return r + "'";
}

/// The declared options of the command line, and their values.
struct command_line : examples::command_line<options> {
  command_line()
      : examples::command_line<options>(
            "transformer", {"data", "model"},
            "Trains a Transformer that reads and writes bytes on a mesh of ranks, data x model. Prints the layout, a "
            "curve of the loss,\nand what it writes before, at half and after the training.",
            "The exit code is 1 if held-out text is not predicted better than by a bigram model, and 75 if a signal "
            "has\nended a training that saves checkpoints: the same command with --resume goes on.") {
    add("--text", o.text, "FILE", "What to learn from (the library's own headers and documentation)");
    add("--steps", o.steps, "N", "Steps to train (1500; with --minutes, as many as fit)", count);
    add("--minutes", o.minutes, "T", "Stop training after this time", above_zero);
    add_seed();

    add_ranks("As many along each axis (alone data=2,model=2; under mpirun all ranks)");

    add.group = "Size of the model and of a step";
    add("--batch", o.batch, "N", "Windows in a step (16, or what the mesh divides)", count);
    add("--length", o.length, "N", "Bytes in a window", count);
    add("--layers", o.layers, "N", "Layers", count);
    add("--d-model", o.d_model, "N", "Width of a layer", count);
    add("--heads", o.heads, "N", "Heads of attention (4, or what the mesh divides)", count);
    add("--d-head", o.d_head, "N", "Width of a head (d-model / heads)", count);
    add("--d-ff", o.d_ff, "N", "Width of the feed-forward part (4 d-model)", count);

    add.group = "Training";
    add("--learning-rate", o.learning_rate, "R", "The highest", above_zero);
    add("--warmup", o.warmup, "N", "Steps until it is reached", not_negative);
    add("--dropout", o.dropout, "P", "Share of activations that are dropped (0)", between(0, 0.999));
    add("--evaluations", o.evaluations, "N", "How often to look at held-out text", count);

    add_regime();

    add.group = "Checkpoints";
    add("--save", o.save, "FOLDER", "Save checkpoints of the training; the newest three stay");
    add("--every", o.every, "N", "Steps from one to the next", count);
    add.flag("--resume", o.resume, "Go on from the newest one, if there is one, on this mesh or another")
        ->needs("--save");

    add.group = "Curves";
    add("--tensorboard", o.tensorboard, "FOLDER", "Write loss and learning rate of each step for TensorBoard");

    add.group = "Sample";
    add("--sample-bytes", o.sample_bytes, "N", "Bytes to write before, at half and after the training", not_negative);
    add("--temperature", o.temperature, "T", "0: always the likeliest byte; 1: by chance; more: bolder", not_negative);
    add("--prompt", o.prompt, "TEXT", "What the samples begin with");

    add.group = "The plan, before anything runs";
    add_plan();
    add("--dot", o.dot, "FILE", "Write the graph of one rank for Graphviz, a box for each scope; then stop");
    add.flag("--dot-nodes", o.dot_nodes, "Each operation of this graph on its own, instead of scopes")->needs("--dot");

    add.group = "Where the time goes";
    add_check();
    add.flag("--profile", o.profile, "Print what twenty steps of training spent their time on");
    add("--trace", o.trace, "FILE",
        "Write when everything ran in them, of all ranks, for Perfetto or chrome://tracing");
  }

  /// The given options that the loss depends on, and --device. The caller adds mesh, batch and heads to the command.
  std::string choices() const {
    std::string text;
    for (auto const* option : app.get_options()) {
      std::string const group = option->get_group(), name = option->get_name();
      bool const matters = group == "Options" || group == "Size of the model and of a step" || group == "Training" ||
                           group == "Replicas that differ";
      bool const apart = name == "--batch" || name == "--heads" || name == "--evaluations";
      if (option->count() != 0 && ((matters && !apart) || name == "--device"))
        text += " " + name + " " + quoted(option->as<std::string>());
    }
    return text;
  }

  /// Parses a command line, independently of earlier calls. Sets `o`, or returns an ending.
  std::optional<ending> read(int argc, char** argv) {
    return examples::command_line<options>::read(argc, argv, [&] {
      if (auto const refused = examples::refused_batch(o, o.batch, "windows"); o.batch != 0 && !refused.empty())
        throw CLI::ValidationError(refused);
      o.program = quoted(argv[0]), o.choices = choices();
    });
  }
};

}  // namespace

std::optional<ending> read_command_line(int argc, char** argv, options& o) {
  return examples::read_by<command_line>(argc, argv, o);
}

void complete_mesh(options& o, int ranks) {
  auto const given = [&](char const* axis) { return o.mesh.count(axis) != 0; };
  auto const rest = [&](char const* other) {
    if (ranks == 0) return std::int64_t{2};
    if (ranks % o.mesh[other] != 0)
      throw meshtensor::error("R05", {ranks, " ranks were started, which is not a multiple of ", other, " = ",
                                      o.mesh[other], ": start as many processes as the mesh has ranks"});
    return ranks / o.mesh[other];
  };
  if (!given("data") && !given("model")) o.mesh["model"] = ranks == 0 || ranks % 2 == 0 ? 2 : 1;
  if (!given("data")) o.mesh["data"] = rest("model");
  else if (!given("model")) o.mesh["model"] = rest("data");
}

void complete_sizes(options& o) {
  auto const up = [](std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; };
  if (o.batch == 0) o.batch = up(16, std::lcm(o.mesh["data"], std::max<std::int64_t>(1, o.replicas)));
  if (o.heads == 0) o.heads = up(4, o.mesh["model"]);
  if (o.d_head == 0) o.d_head = std::max<std::int64_t>(1, o.d_model / o.heads);
  if (o.d_ff == 0) o.d_ff = 4 * o.d_model;
}

}  // namespace transformer

// SPDX-License-Identifier: Apache-2.0
// The command line of a large example: it declares the options that all have, and each example adds its own.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "option_list.hpp"
#include "options.hpp"
#include "regime_options.hpp"

namespace examples {

/// What the exit code of an example with long_training_options means.
inline constexpr char const* code_of_long_training =
    "The exit code is 75 where a signal or the time limit has ended a training that the same command takes up again.";

/// The declared options of a command line, and their values in `o`. An example derives from this class. Its constructor
/// adds its own options, and calls the functions below where --help shall list those that all have.
template <class Options>
struct command_line {
  Options o;
  std::string mesh;
  std::vector<std::string> axes;
  CLI::App app;
  option_list add{app};
  CLI::Validator count = between(1, 1e9), above_zero = between(1e-9, 1e9), not_negative = between(0, 1e9);

  command_line(char const* name, std::vector<std::string> axes_of_mesh, std::string const& about,
               std::string const& exit_code)
      : axes(std::move(axes_of_mesh)),
        app(about +
                "\nAlone, the ranks are threads of this process; under mpirun each is a process. Standard output is "
                "the same.\n" +
                exit_code,
            name) {
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }

  void add_ranks(char const* mesh_help) {
    add.group = "Ranks";
    add("--mesh", mesh, "AXIS=N,..", mesh_help);
    add.device(o.device);
    add("--threads", o.threads, "N", "Threads of a process, shared by its ranks (one a core)", count);
  }
  void add_seed() { add("--seed", o.seed, "N", "Of everything random"); }
  void add_plan() {
    add.explain(o.explain);
    add.rates(o.rates);
  }
  void add_check() {
    add.flag("--check", o.check, "Compare every value of the first step with plain loops on whole tensors, then end");
  }
  /// For regime_options.
  void add_regime() {
    add.group = "Replicas that differ";
    auto* const regime = add.choice("--regime", o.regime, policy_names(),
                                    "Train replicas of the model by this policy, which says what they exchange and "
                                    "when; evaluations use their mean");
    auto* const replicas =
        add("--replicas", o.replicas, "N", "How many; each learns from an equal part of each batch", between(1, 4096));
    regime->needs(replicas), replicas->needs(regime);
    add.choice("--topology", o.topology, topology_names(),
               "Whom replicas send to (one_peer_exponential; ring for decentralized_sgd). random_out_degrees biases "
               "decentralized_sgd")
        ->needs(regime);
    add("--period", o.period, "STEPS", "Steps from one mean to the next (16)", between(1, 1'000'000))->needs(regime);
    add("--clients", o.clients, "C", "Replicas that take part in a mean of federated_averaging (half of them)",
        between(1, 4096))
        ->needs(regime);
    auto* const network =
        add.choice("--network", o.network, network_names(),
                   "Print the time that the steps would take by now, with a rank for each replica on this network");
    network->needs(regime);
    add("--pauses", o.pauses, "P%",
        "In it, the share of steps before which a rank pauses for as long as it computes in a step (0%)",
        CLI::Validator(
            [](std::string& text) {
              return probability_of(text) < 0 ? "'" + text + "' is not like 1%" : std::string();
            },
            ""))
        ->needs(network);
  }
  /// For long_training_options.
  void add_checkpoints() {
    add.group = "Checkpoints";
    add("--save", o.save, "FOLDER", "Save the training there, so that it can go on");
    add("--every", o.every, "N", "Save every so many steps, and at the end", count)->needs("--save");
    add.flag("--resume", o.resume, "Go on from the newest checkpoint, if there is one")->needs("--save");
    add("--time-limit", o.time_limit, "T", "Save and leave after so many minutes (75 is the exit code)", above_zero)
        ->needs("--save");
  }
  /// For long_training_options.
  void add_modes() {
    add_plan();
    add_check();
    add.flag("--check-numerics", o.check_numerics,
             "Look at every value as it is made, and stop at the first that is no number");
    add.flag("--profile", o.profile, "Print what a step spends its time on");
  }

  /// Parses a command line, independently of earlier calls. Then it sets the axes that --mesh gives, and calls `check`,
  /// which may throw a CLI::ValidationError. Returns an ending after --help, --version or a mistake.
  template <class Check>
  std::optional<ending> read(int argc, char** argv, Check const& check) {
    o = {}, mesh.clear();
    return parse(app, argc, argv, [&] {
      std::map<std::string, std::int64_t> given;
      read_mesh(mesh, given, axes);
      for (auto const& [axis, n] : given) o.mesh[axis] = n;
      if constexpr (requires { o.regime; })
        if (auto const refused = o.complete(); !refused.empty()) throw CLI::ValidationError(refused);
      check();
      refuse_if_runs_whole("--check", o.check);
      if constexpr (requires { o.check_numerics; }) refuse_if_runs_whole("--check-numerics", o.check_numerics);
      refuse_if_runs_whole("--profile", o.profile);
      if constexpr (requires { o.trace; }) refuse_if_runs_whole("--trace", !o.trace.empty());
    });
  }

 private:
  /// Refuses an option that looks at single operations, if the device runs programs whole.
  void refuse_if_runs_whole(char const* option, bool is_asked) const {
    if (is_asked && runs_programs_whole(o.device))
      throw CLI::ValidationError(option,
                                 "it looks at single operations, but the device pjrt runs programs whole: leave it "
                                 "out, or take --device cpu");
  }
};

/// Reads a command line by a class that derives from `command_line`, and moves the values into `o`.
template <class CommandLine, class Options>
std::optional<ending> read_by(int argc, char** argv, Options& o) {
  CommandLine words;
  auto ending = words.read(argc, argv);
  o = std::move(words.o);
  return ending;
}

}  // namespace examples

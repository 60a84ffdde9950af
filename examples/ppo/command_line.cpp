// SPDX-License-Identifier: Apache-2.0
// Declares the options of the example PPO, and chooses the numbers that are not given.
#include "command_line.hpp"

#include <algorithm>

#include "../common/command_line.hpp"

namespace ppo {

using examples::between, examples::ending;

namespace {

/// The declared options of the command line, and their values.
struct command_line : examples::command_line<options> {
  command_line()
      : examples::command_line<options>(
            "ppo", {"data", "model"},
            "Learns to act by proximal policy optimization, with the environments in the program, on a mesh of ranks, "
            "data x model.\nPrints the mean score of the episodes that ended, and at the end the score of the actions "
            "that the policy likes best.",
            "The exit code is 1 if the score at the end is below --goal.") {
    auto const share = between(0, 1);
    add.choice("--task", o.task, {"cart_pole", "pendulum"}, "What is learnt: Gymnasium's CartPole-v1 or Pendulum-v1");
    add("--updates", o.updates, "N",
        "Calls, each with steps in all environments and what is learnt from them "
        "(150; pendulum 250)",
        count);
    add("--goal", o.goal, "R", "The least mean score at the end that is a success (any)");
    add("--episodes", o.episodes, "N", "Episodes that are played at the end, all at once", count);
    add_seed();
    add("--print-every", o.print_every, "N", "Print the scores of so many updates in a line", count);
    add("--curve", o.curve, "FILE", "Write the scores and losses of all updates as a table");

    add_ranks("As many along each axis (all ranks along data)");

    add.group = "Size of an update";
    add("--environments", o.environments, "N", "Environments that act at once", count);
    add("--steps", o.steps, "N", "Steps of each environment", count);
    add("--epochs", o.epochs, "N", "Times that all steps are learnt from (4; pendulum 10)", count);
    add("--minibatches", o.minibatches, "N", "Parts of an epoch, each of which makes one step of Adam", count);

    add.group = "Training";
    add.choice("--dtype", o.dtype, {"f32", "f64"}, "What is stored and computed");
    add("--learning-rate", o.learning_rate, "R", "The first, which falls to 0 linearly (0.001)", above_zero);
    add("--gamma", o.gamma, "R", "Discount of a reward that is a step later (0.99; pendulum 0.9)", share);
    add("--lambda", o.lambda, "R", "Of generalized advantage estimation", share);
    add("--clip", o.clip, "R", "How much the ratio of probabilities may differ from 1", above_zero);
    add("--value-weight", o.value_weight, "R", "Of the error of the value in the loss", not_negative);
    add("--entropy-weight", o.entropy_weight, "R", "Of the entropy of the policy in the loss", not_negative);
    add("--clip-norm", o.clip_norm, "R", "The greatest length of a gradient", above_zero);

    add.group = "Checkpoints";
    add("--save", o.save, "FOLDER", "Save the training there, with the environments");
    add("--every", o.every, "N", "Save every so many updates, and at the end", count)->needs("--save");
    add.flag("--resume", o.resume, "Go on from the newest checkpoint, if there is one, on this mesh or another")
        ->needs("--save");

    add.group = "What happens";
    add_plan();
    add.flag("--profile", o.profile, "Print what an update spends its time on");
  }

  /// Parses a command line, independently of earlier calls. Sets `o`, or returns an ending.
  std::optional<ending> read(int argc, char** argv) {
    return examples::command_line<options>::read(argc, argv, [&] {
      if (o.steps % o.minibatches != 0)
        throw CLI::ValidationError("--minibatches", std::to_string(o.steps) + " steps have no " +
                                                        std::to_string(o.minibatches) + " equal parts");
      bool const swings = o.task == "pendulum";
      if (o.updates == 0) o.updates = swings ? 250 : 150;
      if (o.epochs == 0) o.epochs = swings ? 10 : 4;
      if (o.learning_rate == 0) o.learning_rate = 1e-3;
      if (o.gamma == 0) o.gamma = swings ? 0.9 : 0.99;
    });
  }
};

}  // namespace

std::optional<ending> read_command_line(int argc, char** argv, options& o) {
  return examples::read_by<command_line>(argc, argv, o);
}

void complete_mesh(options& o, int ranks) {
  std::int64_t const all = std::max(ranks, 1);
  std::int64_t& over_data = o.mesh["data"];
  std::int64_t& over_model = o.mesh["model"];
  if (over_model == 0) over_model = over_data == 0 ? 1 : std::max<std::int64_t>(all / over_data, 1);
  if (over_data == 0) over_data = std::max<std::int64_t>(all / over_model, 1);
}

}  // namespace ppo

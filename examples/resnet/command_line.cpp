// SPDX-License-Identifier: Apache-2.0
// Declares the options of the image example, and checks that they are consistent.
#include "command_line.hpp"

#include "../common/command_line.hpp"

namespace resnet {

using examples::between, examples::ending;

namespace {

[[noreturn]] void refuse(char const* option, std::string const& why) { throw CLI::ValidationError(option, why); }

/// Reads three epochs in ascending order, for example `30,60,80`.
std::array<double, 3> falls_of(std::string const& text) {
  std::array<double, 3> falls{};
  char const *at = text.data(), *const end = at + text.size();
  for (std::size_t i = 0; i < falls.size(); ++i) {
    auto const [next, problem] = std::from_chars(at, end, falls[i]);
    bool const ends_well = i + 1 == falls.size() ? next == end : next != end && *next == ',';
    if (problem != std::errc{} || !ends_well || !(falls[i] > (i == 0 ? 0 : falls[i - 1])))
      refuse("--falls", "'" + text + "' is not like 30,60,80: three epochs, each after the one before");
    at = next + 1;
  }
  return falls;
}

/// Checks whether options that depend on each other are consistent.
void require_consistent(options const& o) {
  if (o.batch % o.microbatches != 0)
    refuse("--microbatches", "a batch of " + std::to_string(o.batch) + " images has no " +
                                 std::to_string(o.microbatches) + " equal parts");
  if (o.dtype == "bf16" && (o.optimizer == "lars" || o.microbatches > 1))
    refuse("--dtype", "bf16 goes with --optimizer nesterov and whole batches");
  if (std::int64_t const images = o.batch / o.microbatches, over = o.mesh.at("data");
      o.microbatches > 1 && images % over != 0)
    refuse("--microbatches", "parts of " + std::to_string(images) + " images do not divide evenly over data=" +
                                 std::to_string(over) + ": give other numbers of images, of parts or of ranks");
  if (auto const refused = examples::refused_batch(o, o.batch, "images"); !refused.empty())
    throw CLI::ValidationError(refused);
  if (o.trains_replicas() && (o.dtype == "bf16" || o.optimizer == "lars" || o.microbatches > 1))
    refuse("--regime", "replicas go with --dtype f32, --optimizer nesterov and whole batches");
  if (std::int64_t const over = o.mesh.at("data"); o.trains_replicas() && o.replicas % over != 0)
    refuse("--replicas", std::to_string(o.replicas) + " replicas do not divide evenly over data=" +
                             std::to_string(over) + ": give other numbers of replicas or of ranks");
  if (o.evaluate && o.load.empty() && !o.resume)
    refuse("--evaluate", "there is nothing to evaluate: give --load FILE, or --resume with --save FOLDER");
}

/// The declared options of the command line, and their values.
struct command_line : examples::command_line<options> {
  command_line()
      : examples::command_line<options>("resnet", {"data", "rows", "cols", "model"},
                                        "Learns to classify images with a residual network of 18 to 152 layers, on a "
                                        "mesh of ranks, data x rows x cols x model.",
                                        examples::code_of_long_training) {
    auto const share = between(0, 0.999999);

    add.group = "Images";
    add("--data", o.data, "WHERE", "A folder that has the parts, or synthetic: images made up here");
    add("--train", o.train, "PART", "What is learnt from");
    add("--valid", o.valid, "PART", "What is looked at after each epoch");
    add("--size", o.size, "N", "Rows and columns of the images that the network sees", between(32, 4096));
    add("--count", o.count, "N", "How many synthetic images", count);
    add("--classes", o.classes, "N", "Classes of synthetic images", between(2, 1e6));
    add("--readers", o.readers, "N", "Threads that prepare images while a step runs", count);
    add.flag("--skip-damaged", o.skip_damaged, "Name a damaged image and go on without it");
    add("--keep", o.keep, "FOLDER", "Where the curve is kept");

    add_ranks("As many along each axis (data=1,rows=1,cols=1,model=1)");

    add.group = "Model and training";
    add("--depth", o.depth, "N", "Layers: 18, 34, 50, 101 or 152");
    add("--width", o.width, "N", "Channels behind the first convolution; those of all others are in proportion", count);
    add.choice("--dtype", o.dtype, {"f32", "bf16"}, "What is computed in; parameters are f32");
    add.choice("--optimizer", o.optimizer, {"nesterov", "lars"}, "Momentum in Nesterov's form; LARS for large batches");
    add("--epochs", o.epochs, "N", "Times that all images are learnt from", count);
    add("--steps", o.steps, "N", "End after so many updates, whatever the epoch", count);
    add("--batch", o.batch, "N", "Images of a step", count);
    add("--microbatches", o.microbatches, "N", "Parts of a batch, one after the other, for less memory", count);
    add("--learning-rate", o.learning_rate, "R", "The highest (0.1 for 256 images of a batch; with lars 9 for 4096)",
        above_zero);
    add("--warmup", o.warmup, "N", "Epochs until it is reached", not_negative);
    add.choice("--schedule", o.schedule, {"cosine", "stairs"}, "How it falls then");
    add("--falls", o.falls, "N,N,N", "The epochs of the stairs, each of which leaves a tenth");
    add("--momentum", o.momentum, "R", "Of the optimizer", share);
    add("--weight-decay", o.weight_decay, "R", "Of kernels; norms and biases do not decay", not_negative);
    add("--smoothing", o.smoothing, "P", "Share of each label that is spread over all classes", share);
    add("--average", o.average, "R", "Evaluate a moving average of the weights that keeps R of itself (0: none)",
        share);
    add_seed();
    add("--print-every", o.print_every, "N", "Print the loss of every so many steps", count);

    add_regime();

    add_checkpoints();
    add("--export", o.export_to, "FILE", "Write the weights at the end as safetensors, named as torchvision's are");
    add("--load", o.load, "FILE", "Begin with the weights of such a file");

    add.group = "What happens";
    add.flag("--evaluate", o.evaluate, "Evaluate only");
    add.flag("--counts", o.counts, "Print the numbers of parameters and of multiplications, then end");
    add_modes();
    app.get_option("--depth")->check(CLI::IsMember({18, 34, 50, 101, 152}));
  }

  /// Parses a command line, independently of earlier calls. Sets `o`, or returns an ending.
  std::optional<ending> read(int argc, char** argv) {
    return examples::command_line<options>::read(argc, argv, [&] {
      o.fall_epochs = falls_of(o.falls);
      require_consistent(o);
      auto const images = static_cast<double>(o.batch);
      if (o.learning_rate == 0) o.learning_rate = o.optimizer == "lars" ? 9 * images / 4096 : 0.1 * images / 256;
    });
  }
};

}  // namespace

std::optional<ending> read_command_line(int argc, char** argv, options& o) {
  return examples::read_by<command_line>(argc, argv, o);
}

}  // namespace resnet

// SPDX-License-Identifier: Apache-2.0
// Declares the options of the translation example, and checks that they are consistent.
#include "command_line.hpp"

#include "../common/command_line.hpp"

namespace translation {

using examples::between, examples::ending;

namespace {

/// Checks whether options that depend on each other are consistent.
void require_consistent(options const& o) {
  auto const refuse = [](char const* option, std::string const& why) { throw CLI::ValidationError(option, why); };
  if (o.trains() && o.data.empty()) refuse("--data", "a folder of texts is required to train");
  if (!o.trains() && o.data.empty() && !(o.interactive && !o.vocabulary.empty()))
    refuse("--data", "a folder of texts is required, unless --interactive, --load and --vocabulary are given");
  if (o.microbatches > 1 && (o.dtype != "f32" || o.optimizer != "adam"))
    refuse("--microbatches", "gradients are summed up over microbatches with --optimizer adam and --dtype f32 alone");
  if (o.dtype == "bf16" && o.optimizer != "adam") refuse("--dtype", "bf16 goes with --optimizer adam");
}

/// The declared options of the command line, and their values.
struct command_line : examples::command_line<options> {
  command_line()
      : examples::command_line<options>("translate", {"data", "model"},
                                        "Learns to translate from a folder of aligned texts, on a mesh of ranks, data "
                                        "x model, scores what it has learnt, and translates what one types.",
                                        examples::code_of_long_training) {
    auto const share = between(0, 0.999);

    add.group = "Texts";
    add("--data", o.data, "FOLDER", "Two aligned files for each part: train.en and train.de, or train.en.gz and ...");
    add("--from", o.from, "NAME", "The language that is read: how its files end");
    add("--into", o.into, "NAME", "The language that is written");
    add("--train", o.train, "PART", "What is learnt from");
    add("--valid", o.valid, "PART", "What is looked at after each epoch");
    add("--test", o.test, "PART", "What is translated and scored at the end");
    add("--vocabulary", o.vocabulary, "FILE", "A sentencepiece model (one is learnt from the training part, and kept)");
    add("--pieces", o.pieces, "N", "Subwords, of both languages together", count);
    add("--longest", o.longest, "N", "Longer pairs are left out of the training", count);
    add("--keep", o.keep, "FOLDER", "Where the vocabulary, the curve and the translations are kept");

    add_ranks("As many along each axis (data=1,model=1)");

    add.group = "Model and training";
    add.choice("--size", o.size, {"toy", "tiny", "base"}, "Of the model; base as in Vaswani et al. 2017");
    add.choice("--dtype", o.dtype, {"f32", "bf16"}, "What is computed in; parameters are f32");
    add.choice("--optimizer", o.optimizer, {"adam", "adafactor"}, "Whose state is smaller: adafactor's");
    add("--epochs", o.epochs, "N", "Times that all pairs are learnt from", count);
    add("--batch-tokens", o.batch_tokens, "N", "Words of the target in a step, padding included", count);
    add("--buckets", o.buckets, "N", "Lengths that sentences are padded to", count);
    add("--length-multiple", o.length_multiple, "N", "Of these lengths", count);
    add("--microbatches", o.microbatches, "N", "Parts of a batch, one after the other, for less memory", count);
    add("--learning-rate", o.learning_rate, "R", "The highest (0.005; with adafactor 0.05)", above_zero);
    add("--warmup", o.warmup, "N", "Steps until it is reached", count);
    add("--clip-norm", o.clip_norm, "R", "Longest gradient, of all parameters together; 0: any", not_negative);
    add("--dropout", o.dropout, "P", "Share of activations that are dropped", share);
    add("--smoothing", o.smoothing, "P", "Share of each label that is spread over all words", share);
    add_seed();
    add("--average", o.average, "N", "Epochs whose parameters are averaged before the test", count);
    add("--score-every", o.score_every, "N", "Translate the validation part after every so many epochs (never)", count);

    add_checkpoints();
    add("--export", o.export_to, "FILE", "Write the parameters at the end as one safetensors file");
    add("--load", o.load, "FILE", "Take the parameters from such a file instead of training")->excludes("--save");

    add.group = "Translating";
    add("--beam", o.beam, "N", "Ways that are followed at a time; 1: always the likeliest word", count);
    add("--length-penalty", o.length_penalty, "P", "A way's log probability is divided by its words to this power",
        not_negative);
    add.flag("--sample", o.sample, "Draw each word instead of searching");
    add("--temperature", o.temperature, "T", "Of the drawing: less is more certain", between(1e-3, 1e3));
    add("--top-k", o.top_k, "N", "Draw from the N likeliest words", count);
    add("--top-p", o.top_p, "P", "Draw from the likeliest words that have this probability together", between(1e-9, 1));
    add("--limit", o.limit, "N", "Words of the longest translation, and its end", count);
    add("--sentences", o.sentences, "N", "Sentences that are translated at a time", count);
    add.flag("--interactive", o.interactive, "Translate what is typed, line by line, instead of the test part");

    add.group = "What happens";
    add_modes();
  }

  /// Parses a command line, independently of earlier calls. Sets `o`, or returns an ending.
  std::optional<ending> read(int argc, char** argv) {
    return examples::command_line<options>::read(argc, argv, [&] {
      require_consistent(o);
      if (o.learning_rate == 0) o.learning_rate = o.optimizer == "adafactor" ? 0.05 : 0.005;
    });
  }
};

}  // namespace

std::optional<ending> read_command_line(int argc, char** argv, options& o) {
  return examples::read_by<command_line>(argc, argv, o);
}

}  // namespace translation

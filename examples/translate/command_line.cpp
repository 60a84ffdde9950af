// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include "../common/option_list.hpp"

namespace translation {

using examples::between, examples::option_list, examples::read_mesh;

std::optional<ending> read_command_line(int argc, char** argv, options& o) {
  CLI::App app(
      "Learns to translate from a folder of aligned texts, on a mesh of processors, data x model, and scores what it "
      "has "
      "learnt.\nAlone, the processors are threads of this process; under mpirun they are its ranks. Standard output is "
      "the "
      "same.",
      "translate");
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  option_list add{app};
  auto const count = between(1, 1e9), above_zero = between(1e-9, 1e9), share = between(0, 0.999);
  std::string mesh;

  add.group = "Texts";
  app.add_option("--data", o.data, "Two aligned files for each part: train.en and train.de, or train.en.gz and ...")
      ->type_name("FOLDER")
      ->required()
      ->group(add.group);
  add("--from", o.from, "NAME", "The language that is read: how its files end");
  add("--into", o.into, "NAME", "The language that is written");
  add("--train", o.train, "PART", "What is learnt from");
  add("--valid", o.valid, "PART", "What is looked at after each epoch");
  add("--test", o.test, "PART", "What is translated and scored at the end");
  add("--pieces", o.pieces, "N", "Subwords, of both languages together", count);
  add("--longest", o.longest, "N", "Longer pairs are left out of the training", count);
  add("--keep", o.keep, "FOLDER", "Where the vocabulary, the curve and the translations are kept");

  add.group = "Processors";
  add("--mesh", mesh, "AXIS=N,..", "As many along each axis (data=1,model=1)");
  add("--threads", o.threads, "N", "Threads of a process, shared by its processors (one a core)", count);

  add.group = "Model and training";
  app.add_option("--size", o.size, "Of the model: toy, tiny, or base as in Vaswani et al. 2017")
      ->check(CLI::IsMember({"toy", "tiny", "base"}))
      ->capture_default_str()
      ->group(add.group);
  add("--epochs", o.epochs, "N", "Times that all pairs are learnt from", count);
  add("--minutes", o.minutes, "T", "Begin no epoch after this time", above_zero);
  add("--batch-tokens", o.batch_tokens, "N", "Words of the target in a step, padding included", count);
  add("--buckets", o.buckets, "N", "Lengths that sentences are padded to", count);
  add("--learning-rate", o.learning_rate, "R", "The highest", above_zero);
  add("--warmup", o.warmup, "N", "Steps until it is reached", count);
  add("--dropout", o.dropout, "P", "Share of activations that are dropped", share);
  add("--smoothing", o.smoothing, "P", "Share of each label that is spread over all words", share);
  add("--seed", o.seed, "N", "Of everything random");
  add("--average", o.average, "N", "Epochs whose parameters are averaged before the test", count);
  add("--score-every", o.score_every, "N", "Translate the validation part after every so many epochs (never)", count);

  add.group = "Translating";
  add("--beam", o.beam, "N", "Ways that are followed at a time; 1: always the likeliest word", count);
  add("--limit", o.limit, "N", "Words of the longest translation", count);
  add("--sentences", o.sentences, "N", "Sentences that are translated at a time", count);

  add.group = "What happens";
  app.add_flag("--explain", o.explain, "Print what each processor stores, exchanges and computes; then stop")
      ->group(add.group);
  app.add_flag("--check", o.check, "Compare every value of the first step with plain loops on whole tensors, then end")
      ->group(add.group);
  app.add_flag("--profile", o.profile, "Print what a step spends its time on")->group(add.group);

  try {
    app.parse(argc, argv);
    std::map<std::string, std::int64_t> given;
    if (!mesh.empty() && !read_mesh(mesh, given))
      throw CLI::ValidationError("--mesh", "'" + mesh + "' is not like data=2,model=2");
    for (auto const& [axis, n] : given) o.mesh[axis] = n;
    return {};
  } catch (CLI::ParseError const& e) {
    if (e.get_exit_code() == 0) return ending{0, app.help()};
    return ending{2, std::string("translate: ") + e.what() + "; translate --help lists the options\n"};
  }
}

}  // namespace translation

// SPDX-License-Identifier: Apache-2.0
// Learns to translate, from raw texts to a BLEU score. It learns subwords, batches sentences of similar length, trains
// on a mesh of ranks, and translates by beam search. Start it as `translate --data FOLDER`. --help lists its options.
//
// The network is `logits_of` in translate.hpp. Each sublayer of a block is behind a norm and has a residual connection:
//
//     encoder: embedding of the source, then in each layer attention to the source, and a feed-forward layer
//     decoder: embedding of the target, then in each layer causal attention, attention to the encoded source, and a
//              feed-forward layer
//     logits of the next word = norm of the decoded target, times the transposed embedding table
#include <filesystem>
#include <fstream>

#include <meshtensor/datasets/text/bleu.hpp>
#include <meshtensor/io/export.hpp>
#include <meshtensor/io/import.hpp>
#include <meshtensor/train/progress_line.hpp>
#include <meshtensor/train/stop_request.hpp>

#include "common/main_with_options.hpp"
#include "translate/command_line.hpp"
#include "translate/conversation.hpp"
#include "translate/sizes.hpp"
#include "translate/speaking.hpp"
#include "translate/training.hpp"

namespace {

using namespace translation;

struct translator {
  mt::job const& job;
  options const& o;
  texts const& all;
  mt::store weights{job, o.seed};
  speaking says{weights, o, all.vocabulary.size(), all.vocabulary.special()};

  /// Translates a part of the texts, writes the translations to a file, and returns the line to print.
  std::string score(corpus const& c, std::string const& name) {
    double const begin = mt::seconds_now();
    std::vector<std::span<std::int32_t const>> sources;
    for (std::int64_t i = 0; i < c.tokens.size(); ++i) sources.push_back(c.tokens.source(i));
    std::vector<std::string> said;
    for (sentence const& s : says.translate(sources)) said.push_back(all.vocabulary.decode(s));
    double const seconds = mt::seconds_now() - begin;
    mt::progress(job, "{} sentences in {:.1f} s, {:.1f} a second\n", said.size(), seconds,
                 static_cast<double>(said.size()) / seconds);
    if (job.is_root()) {
      std::error_code ignored;
      std::filesystem::create_directories(o.keep, ignored);
      std::ofstream file(std::filesystem::path(o.keep) / (name + "." + o.into));
      for (std::string const& line : said) file << line << '\n';
      if (!file.flush())
        mt::warn(job.get(), "R43: the translations of '" + name + "' cannot be written to '" + o.keep + "'");
    }
    return fmt::format("{:<18} {}\n", name, text_of(mt::datasets::corpus_bleu(said, c.text.target)));
  }
  std::string answer(std::string const& line) {
    std::vector<std::int32_t> const words = all.vocabulary.encode(line);
    std::span<std::int32_t const> const source[] = {words};
    return all.vocabulary.decode(says.translate(source)[0]);
  }

  int train() {
    auto const by = make_learner({weights, o, all.buckets, all.vocabulary.size()});
    if (!o.explain.empty()) return mt::print(job, "{}", by->explained(o.explain)), 0;
    if (o.check) {
      mt::datasets::pair_batch b;
      mt::datasets::pair_batches(all.train.tokens, all.buckets, all.vocabulary.special(), o.seed).read(0, b);
      auto const [agrees, sentence] = by->compare(b);
      return mt::print(job, "{}\n", sentence), agrees ? 0 : 1;
    }
    training t{job, o, all, weights, *by, [&] { return score(all.valid, o.valid); }};
    if (t.run()) return mt::stop_request::exit_code;
    return finish();
  }
  int finish() {
    if (!o.export_to.empty()) mt::export_safetensors(weights, o.export_to, {.only = is_model});
    if (o.interactive) return converse(job, [&](std::string const& line) { return answer(line); }), 0;
    mt::print(job, "{}", score(all.test, o.test));
    if (o.profile) mt::progress(job, "{}", says.profile());
    return 0;
  }
  int run() {
    if (o.trains()) return train();
    mt::import_safetensors(weights, o.load, {.only = is_model});
    return finish();
  }
};

}  // namespace

int main(int argc, char** argv) {
  return examples::main_with_options(argc, argv, read_command_line, [](mt::job const& job, options& o) {
    if (o.interactive) o.sentences = o.mesh.at("data");
    texts const all(o);
    translator t{job, o, all};
    return t.run();
  });
}

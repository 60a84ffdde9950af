// SPDX-License-Identifier: Apache-2.0
// Learns a vocabulary of subwords from texts with sentencepiece when it is first needed, and keeps it. It needs the
// component sentencepiece.
#pragma once

#include <sentencepiece_trainer.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "meshtensor/base/hash_combine.hpp"
#include "meshtensor/datasets/cached_file.hpp"
#include "meshtensor/datasets/text/subwords.hpp"

namespace meshtensor::datasets {

/// Texts to learn from, each as a list of lines. An example is `{pairs.source, pairs.target}`.
using text_list = std::initializer_list<std::span<std::string const>>;

/// Options of the vocabulary.
struct subword_options {
  std::string kind = "bpe";    // or unigram, char, word
  std::int64_t pieces = 8000;  // the size of the vocabulary, special tokens included
  double coverage = 1;         // the share of characters that have a piece, less for scripts with thousands of them
};

namespace detail {

/// Iterates over the lines of several texts for sentencepiece, without copying the texts.
class lines_in_turn : public sentencepiece::SentenceIterator {
 public:
  explicit lines_in_turn(text_list all) {
    for (auto const& text : all)
      for (std::string const& line : text)
        if (!line.empty()) lines_.push_back(&line);
  }
  bool empty() const { return lines_.empty(); }
  bool done() const override { return next_ == lines_.size(); }
  void Next() override { ++next_; }
  std::string const& value() const override { return *lines_[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  std::vector<std::string const*> lines_;
  std::size_t next_ = 0;
};

}  // namespace detail

/// Trains a sentencepiece model on texts and returns its bytes. They are the same on every machine and for any number
/// of cores.
///
/// errors  R54 no such vocabulary can be learnt
inline std::string learn_subwords(text_list all, subword_options const& options = {}) {
  auto const& kind = options.kind;
  if ((kind != "bpe" && kind != "unigram" && kind != "char" && kind != "word") || options.pieces < 5 ||
      options.pieces > 1 << 30 || !(options.coverage >= 0.98 && options.coverage <= 1))
    throw error("R54", {"there are no ", options.pieces, " subwords of kind '", kind, "' for a share of ",
                        std::to_string(options.coverage), " of the characters: kinds are bpe, unigram, char and word, ",
                        "a vocabulary has at least 5 pieces, a share is from 0.98 to 1"});
  detail::lines_in_turn lines(all);
  if (lines.empty()) throw error("R54", "subwords cannot be learnt from a text without a word: give a longer one");
  special_tokens const special;
  std::unordered_map<std::string, std::string> const flags{
      {"model_type", kind},
      {"vocab_size", std::to_string(options.pieces)},
      {"character_coverage", std::to_string(options.coverage)},
      {"pad_id", std::to_string(special.pad)},
      {"unk_id", std::to_string(special.unknown)},
      {"bos_id", std::to_string(special.begin)},
      {"eos_id", std::to_string(special.end)},
      {"num_threads", "16"},  // fixed, because unigram's sums depend on the number of threads
      {"minloglevel", "2"}};  // errors are in the status
  std::string model;
  auto const problem = detail::reason(sentencepiece::SentencePieceTrainer::Train(flags, &lines, &model));
  if (!problem.empty())
    throw error("R54", {options.pieces, " subwords of kind '", kind, "' cannot be learnt from this text: ", problem});
  return model;
}

/// Subwords that are learnt from texts when they are first needed, and then kept in a folder. The name of the file
/// depends on the texts and the options. Any number of processes may call it at once with the same texts. One of them
/// learns, and the others wait.
///
/// errors  R54 no such vocabulary can be learnt; R17 it cannot be written; R53 the kept file is damaged
inline subwords cached_subwords(std::filesystem::path const& folder, text_list all,
                                subword_options const& options = {}) {
  hash_combine mix;
  mix(std::bit_cast<std::uint64_t>(options.coverage));
  for (auto const& text : all)
    for (std::string const& line : text) {
      for (char c : line) mix(static_cast<unsigned char>(c));
      mix('\n');
    }
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(mix.hash));
  auto const file = folder / (options.kind + "-" + std::to_string(options.pieces) + "-" + hash + ".model");
  keep_file(file, [&] { return learn_subwords(all, options); });
  return subwords(file);
}

}  // namespace meshtensor::datasets

// SPDX-License-Identifier: Apache-2.0
// BLEU scores translations by the n-grams of up to four words that they share with human translations.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/datasets/text/words.hpp"

namespace meshtensor::datasets {

/// BLEU of a corpus, and the figures that it consists of. Counts and precisions are by n-gram length, from one to four
/// words.
struct bleu_score {
  double score = 0;                               // 0 to 100
  std::array<double, 4> precision{};              // per cent, smoothed for a length without a match
  std::array<std::int64_t, 4> matched{}, runs{};  // n-grams of the translations: in a reference, and all
  double brevity = 1;                             // the brevity penalty
  std::int64_t words = 0, reference_words = 0;
};

namespace detail {

/// Counts the n-grams of one to four words. In a key, the words have a blank between them.
inline std::unordered_map<std::string, std::int64_t> runs_of(std::vector<std::string> const& words) {
  std::unordered_map<std::string, std::int64_t> all;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string run;
    for (std::size_t k = i; k < std::min(words.size(), i + 4); ++k) ++all[run += (k == i ? "" : " ") + words[k]];
  }
  return all;
}

/// Adds one translation to the counts.
inline void count_runs(bleu_score& to, std::vector<std::string> const& said,
                       std::vector<std::vector<std::string>> const& references) {
  auto const apart = [&](std::size_t length) {
    return length < said.size() ? said.size() - length : length - said.size();
  };
  std::size_t closest = references[0].size();
  std::unordered_map<std::string, std::int64_t> most;  // the greatest count of an n-gram in any reference
  for (auto const& words : references) {
    std::size_t const length = words.size();
    if (apart(length) < apart(closest) || (apart(length) == apart(closest) && length < closest)) closest = length;
    for (auto const& [run, count] : runs_of(words)) most[run] = std::max(most[run], count);
  }
  to.words += static_cast<std::int64_t>(said.size()), to.reference_words += static_cast<std::int64_t>(closest);
  for (auto const& [run, count] : runs_of(said)) {
    auto const length = static_cast<std::size_t>(std::count(run.begin(), run.end(), ' '));
    to.runs[length] += count;
    if (auto const there = most.find(run); there != most.end()) to.matched[length] += std::min(count, there->second);
  }
}

}  // namespace detail

/// BLEU of translations against one or several references for each of them: `references[r][i]` belongs to `said[i]`. It
/// distinguishes upper and lower case, and it counts the words of `words_13a`. Lengths without a match are smoothed as
/// in mteval-v13a: the first of them gets half a match, the next one a quarter, and so on. The figures are equal to
/// those of sacreBLEU with nrefs:…|case:mixed|eff:no|tok:13a|smooth:exp.
///
/// errors R56 there is no reference, or one has another number of sentences
///
/// Source: Papineni, Roukos, Ward and Zhu, BLEU: a method for automatic evaluation of machine translation, ACL 2002;
/// Post, A call for clarity in reporting BLEU scores, WMT 2018; Chen and Cherry, A systematic comparison of smoothing
/// techniques for sentence-level BLEU, WMT 2014, method 3.
inline bleu_score corpus_bleu(std::span<std::string const> said, std::span<std::vector<std::string> const> references) {
  if (references.empty()) throw error("R56", "BLEU needs at least one reference");
  for (auto const& one : references)
    if (one.size() != said.size())
      throw error("R56", {"there are ", said.size(), " translations, but ", one.size(),
                          " sentences in a reference: give one for each"});
  bleu_score s;
  for (std::size_t i = 0; i < said.size(); ++i) {
    std::vector<std::vector<std::string>> words;
    for (auto const& one : references) words.push_back(words_13a(one[i]));
    detail::count_runs(s, words_13a(said[i]), words);
  }

  if (s.words < s.reference_words)
    s.brevity = s.words == 0 ? 0 : std::exp(1 - static_cast<double>(s.reference_words) / static_cast<double>(s.words));
  if (s.matched[0] == 0) return s;  // without a matching word, no longer n-gram matches
  double smoothed = 1, logarithms = 0;
  for (std::size_t n = 0; n < 4; ++n) {
    if (s.runs[n] == 0) return s;  // no translation is that long, so the score is 0
    auto const all = static_cast<double>(s.runs[n]);
    s.precision[n] = s.matched[n] == 0 ? 100 / ((smoothed *= 2) * all) : 100 * static_cast<double>(s.matched[n]) / all;
    logarithms += std::log(s.precision[n]);
  }
  s.score = s.brevity * std::exp(logarithms / 4);
  return s;
}
/// BLEU against one reference.
inline bleu_score corpus_bleu(std::span<std::string const> said, std::vector<std::string> const& reference) {
  return corpus_bleu(said, std::span(&reference, 1));
}

/// For example `BLEU = 38.04 69.1/45.2/31.4/21.6 (BP = 0.983 ratio = 0.983 hyp_len = 11972 ref_len = 12179)`, which is
/// sacreBLEU's format.
inline std::string text_of(bleu_score const& s) {
  double const ratio =
      s.reference_words == 0 ? 0 : static_cast<double>(s.words) / static_cast<double>(s.reference_words);
  char text[200];
  std::snprintf(text, sizeof text,
                "BLEU = %.2f %.1f/%.1f/%.1f/%.1f (BP = %.3f ratio = %.3f hyp_len = %lld ref_len = %lld)", s.score,
                s.precision[0], s.precision[1], s.precision[2], s.precision[3], s.brevity, ratio,
                static_cast<long long>(s.words), static_cast<long long>(s.reference_words));
  return text;
}

}  // namespace meshtensor::datasets

// SPDX-License-Identifier: Apache-2.0
// BLEU beside sacreBLEU's: the corpora and sentences that tests/data/bleu_by_sacrebleu.py has recorded.
#include "meshtensor/datasets/text/bleu.hpp"
#include "support/source_path.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

namespace mt = meshtensor;

namespace {

void add(std::string& text, char32_t c) {
  auto const tail = [&](int shift) { text += static_cast<char>(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x80) text += static_cast<char>(c);
  else if (c < 0x800) text += static_cast<char>(0xc0 | c >> 6), tail(0);
  else if (c < 0x10000) text += static_cast<char>(0xe0 | c >> 12), tail(6), tail(0);
  else text += static_cast<char>(0xf0 | c >> 18), tail(12), tail(6), tail(0);
}

struct recorded {
  std::ifstream file{meshtensor_test::source_path(__FILE__).replace_extension(".txt")};

  std::string line() {
    std::string raw, text;
    REQUIRE(std::getline(file, raw).good());
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] == '\\') add(text, static_cast<char32_t>(std::stoul(raw.substr(i + 2, 6), nullptr, 16))), i += 7;
      else text += raw[i];
    }
    return text;
  }
  double figure() {
    double x = 0;
    REQUIRE((file >> x).good());
    return x;
  }
};

void same_score(recorded& r, std::size_t sentences, std::size_t references) {
  std::vector<std::string> said;
  std::vector<std::vector<std::string>> of(references);
  for (std::size_t i = 0; i < sentences; ++i) {
    said.push_back(r.line());
    for (auto& one : of) one.push_back(r.line());
  }
  mt::datasets::bleu_score const s = mt::datasets::corpus_bleu(said, of);
  INFO(said[0] << ": " << text_of(s));
  auto const near = [](double x, double wanted) { return std::abs(x - wanted) <= 1e-9; };
  CHECK(near(s.score, r.figure()));
  for (double p : s.precision) CHECK(near(p, r.figure()));
  CHECK(near(s.brevity, r.figure()));
  for (std::int64_t n : s.matched) CHECK(static_cast<double>(n) == r.figure());
  for (std::int64_t n : s.runs) CHECK(static_cast<double>(n) == r.figure());
  CHECK(static_cast<double>(s.words) == r.figure());
  CHECK(static_cast<double>(s.reference_words) == r.figure());
}

}  // namespace

TEST_CASE("the same figures, and the same words") {
  recorded r;
  REQUIRE(r.file.good());
  std::size_t corpora = 0, texts = 0;
  for (std::string kind; r.file >> kind;) {
    if (kind == "corpus") {
      auto const sentences = static_cast<std::size_t>(r.figure()), references = static_cast<std::size_t>(r.figure());
      r.file.ignore();
      same_score(r, sentences, references), ++corpora;
    } else {
      REQUIRE(kind == "words");
      r.file.ignore();
      std::string const text = r.line(), wanted = r.line();
      std::string found;
      for (std::string const& word : mt::datasets::words_13a(text)) found += (found.empty() ? "" : " ") + word;
      CHECK(found == wanted);
      ++texts;
    }
  }
  CHECK(corpora == 71);
  CHECK(texts == 445);
}

TEST_CASE("the usual example") {
  std::vector<std::string> const said{"The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."};
  std::vector<std::vector<std::string>> const references{
      {"The dog bit the man.", "It was not unexpected.", "The man bit him first."},
      {"The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."}};
  CHECK(text_of(mt::datasets::corpus_bleu(said, references)) ==
        "BLEU = 48.53 82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)");
  CHECK(mt::datasets::corpus_bleu(said, references[0]).reference_words == 17);
  CHECK(mt::datasets::corpus_bleu(references[0], references[0]).score == doctest::Approx(100));
}

TEST_CASE("what cannot be compared") {
  std::vector<std::string> const two{"a", "b"}, three{"a", "b", "c"};
  CHECK_THROWS_WITH_AS(mt::datasets::corpus_bleu(two, three),
                       doctest::Contains("R56: there are 2 translations, but 3 sentences in a reference"), mt::error);
  CHECK_THROWS_WITH_AS(mt::datasets::corpus_bleu(two, std::span<std::vector<std::string> const>()),
                       doctest::Contains("R56: "), mt::error);
  CHECK(mt::datasets::corpus_bleu({}, std::vector<std::string>()).score == 0);
}

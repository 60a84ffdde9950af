// SPDX-License-Identifier: Apache-2.0
// Subwords: learnt when first wanted, kept, the same whoever learns them; text to tokens and back.
//
// needs: sentencepiece
#include "meshtensor/datasets/text/subwords.hpp"

#include <doctest/doctest.h>

#include <set>
#include <thread>

#include "meshtensor/datasets/text/learn_subwords.hpp"
#include "support/temporary_folder.hpp"

namespace mt = meshtensor;
using folder = meshtensor_test::temporary_folder;
using strings = std::vector<std::string>;

namespace {

/// Sentences of words of syllables, many of them `word`.
strings sentences(int count, std::string const& word) {
  static constexpr char const* syllables[] = {"ba", "ru", "mi", "ta", "le", "no", "ki", "so", "du", "ve"};
  std::uint32_t random = 1;
  auto const draw = [&](std::uint32_t below) { return ((random = random * 1664525 + 1013904223) >> 16) % below; };
  strings r;
  for (int i = 0; i < count; ++i) {
    r.push_back(word);
    for (int w = 0; w < 4; ++w) {
      r.back() += ' ';
      for (std::uint32_t k = 0; k <= draw(3); ++k) r.back() += syllables[draw(10)];
    }
    r.back() += " \xc3\xa4" + word + "s";
  }
  return r;
}
std::string refusal(mt::datasets::text_list texts, mt::datasets::subword_options const& options) {
  try {
    mt::datasets::learn_subwords(texts, options);
  } catch (mt::error const& e) { return e.what(); }
  return {};
}

}  // namespace

TEST_CASE("text to tokens and back") {
  for (char const* const kind : {"bpe", "unigram"}) {
    mt::datasets::subwords const s(
        mt::datasets::learn_subwords({sentences(100, "dog"), sentences(100, "cat")}, {kind, 60}), "learnt");
    CHECK(s.size() == 60);
    CHECK(s.special().pad == 0);
    CHECK(s.special().unknown == 1);
    CHECK(s.special().begin == 2);
    CHECK(s.special().end == 3);
    for (auto const& text : {std::string("dog ruleta baso \xc3\xa4"
                                         "cats"),
                             std::string("cat"), std::string()}) {
      auto tokens = s.encode(text);
      CHECK(tokens.size() < std::max<std::size_t>(text.size(), 1));
      for (std::int32_t t : tokens) CHECK((t > 3 && t < 60));
      CHECK(s.decode(tokens) == text);
      tokens.insert(tokens.begin(), s.special().begin);
      tokens.push_back(s.special().end), tokens.push_back(s.special().pad);
      CHECK(s.decode(tokens) == text);
    }
    auto const unknown = s.encode("\xe4\xb8\xad");
    CHECK(std::count(unknown.begin(), unknown.end(), 1) == 1);
    CHECK_THROWS_WITH_AS(s.decode(std::vector<std::int32_t>{5, 60}),
                         doctest::Contains("R53: there is no subword 60: the vocabulary has 60"), mt::error);
    CHECK_THROWS_AS(s.decode(std::vector<std::int32_t>{-1}), mt::error);
  }
}

TEST_CASE("pairs of texts") {
  mt::datasets::subwords const s(mt::datasets::learn_subwords({sentences(100, "dog")}, {"bpe", 40}), "learnt");
  mt::datasets::text_pairs const text{{"dog", "", "mita dogs"}, {"dogs ru", "ve", ""}};
  mt::datasets::token_pairs const tokens = s.encode(text);
  REQUIRE(tokens.size() == 3);
  for (std::int64_t i = 0; i < 3; ++i) {
    CHECK(s.decode(tokens.source(i)) == text.source[static_cast<std::size_t>(i)]);
    CHECK(s.decode(tokens.target(i)) == text.target[static_cast<std::size_t>(i)]);
  }
  CHECK(tokens.source(1).empty());
  mt::datasets::text_pairs const many{sentences(3456, "dog"), sentences(3456, "cat")};  // several threads
  mt::datasets::token_pairs const all = s.encode(many);
  REQUIRE(all.size() == 3456);
  int wrong = 0;
  for (std::int64_t i = 0; i < all.size(); ++i)
    wrong += !std::ranges::equal(all.source(i), s.encode(many.source[static_cast<std::size_t>(i)])) ||
             !std::ranges::equal(all.target(i), s.encode(many.target[static_cast<std::size_t>(i)]));
  CHECK(wrong == 0);
  CHECK_THROWS_WITH_AS(s.encode(mt::datasets::text_pairs{{"dog"}, {}}),
                       doctest::Contains("R50: there are 1 sentences, but 0 translations"), mt::error);
}

TEST_CASE("the same model whoever learns it, in a file of its own") {
  folder const f;
  auto const dogs = sentences(200, "dog"), cats = sentences(200, "cat");
  std::vector<std::thread> all;
  std::vector<std::string> learnt(4);
  for (std::string& model : learnt)
    all.emplace_back([&] {
      model = mt::datasets::learn_subwords({dogs, cats}, {"unigram", 60});
      CHECK(mt::datasets::cached_subwords(f.path, {dogs, cats}, {"unigram", 60}).size() == 60);
    });
  for (auto& t : all) t.join();
  CHECK(std::set<std::string>(learnt.begin(), learnt.end()).size() == 1);
  REQUIRE(f.files() == 1);
  auto const file = std::filesystem::directory_iterator(f.path)->path().filename().string();
  CHECK(f.read(file) == learnt[0]);

  f.write(file, mt::datasets::learn_subwords({dogs}, {"bpe", 50}));  // what is kept is read, not learnt again
  CHECK(mt::datasets::cached_subwords(f.path, {dogs, cats}, {"unigram", 60}).size() == 50);
  mt::datasets::cached_subwords(f.path, {cats, dogs}, {"unigram", 60});
  mt::datasets::cached_subwords(f.path, {dogs, cats}, {"bpe", 60});
  mt::datasets::cached_subwords(f.path, {dogs, cats}, {"bpe", 61});
  mt::datasets::cached_subwords(f.path, {dogs, cats}, {"bpe", 61, 0.99});
  CHECK(f.files() == 5);

  f.write(file, "");
  CHECK_THROWS_WITH_AS(mt::datasets::cached_subwords(f.path, {dogs, cats}, {"unigram", 60}),
                       doctest::Contains("is empty"), mt::error);
  std::string const cut = learnt[0].substr(0, learnt[0].size() - 9);
  f.write(file, cut);
  CHECK_THROWS_WITH_AS(mt::datasets::cached_subwords(f.path, {dogs, cats}, {"unigram", 60}),
                       doctest::Contains("R53: '"), mt::error);
}

TEST_CASE("models that are none") {
  auto const text = sentences(100, "dog");
  std::string const good = mt::datasets::learn_subwords({text}, {"bpe", 40});
  auto const said = [](std::string const& model) {
    try {
      mt::datasets::subwords(model, "x.model");
    } catch (mt::error const& e) { return std::string(e.what()); }
    return std::string();
  };
  CHECK(said(good) == "");
  CHECK(said("text") ==
        "meshtensor R53: 'x.model' is no model of sentencepiece (its tables are damaged): name another, or delete the "
        "file so that it is made again");
  CHECK(said("").find("is no model of sentencepiece (unk is not defined)") != std::string::npos);
  std::string damaged = good;  // its trie, by which text is normalized, is most of the file
  for (std::size_t i = damaged.size() / 8; i < damaged.size() / 4; i += 7) damaged[i] = '\x55';
  CHECK(said(damaged).find("its tables are damaged") != std::string::npos);

  mt::datasets::detail::lines_in_turn lines({text});
  std::string own;
  REQUIRE(sentencepiece::SentencePieceTrainer::Train(
              {{"model_type", "bpe"}, {"vocab_size", "40"}, {"minloglevel", "2"}}, &lines, &own)
              .ok());
  CHECK(said(own) ==
        "meshtensor R53: the model 'x.model' has no special token 'pad': train it with --pad_id set to a number of its "
        "own");
}

TEST_CASE("what cannot be learnt") {
  auto const text = sentences(100, "dog");
  CHECK(refusal({text}, {"soup"}).find("R54: there are no 8000 subwords of kind 'soup'") != std::string::npos);
  CHECK(refusal({text}, {"bpe", 4}).find("at least 5 pieces") != std::string::npos);
  CHECK(refusal({text}, {"bpe", 50, 0.5}).find("a share is from 0.98 to 1") != std::string::npos);
  CHECK(refusal({}, {}).find("R54: subwords cannot be learnt from a text without a word") != std::string::npos);
  CHECK(refusal({strings(5)}, {}).find("without a word") != std::string::npos);
  CHECK(refusal({text}, {})
            .find("R54: 8000 subwords of kind 'bpe' cannot be learnt from this text: Vocabulary size too "
                  "high (8000). Please set it to a value <= ") != std::string::npos);
  CHECK(refusal({text}, {"unigram", 10}).find("Vocabulary size is smaller than required_chars. 10 vs ") !=
        std::string::npos);
}

// SPDX-License-Identifier: Apache-2.0
// English and German sentences (Multi30K) from their files to batches: the numbers of a training in PyTorch on the same
// texts, 147 updates an epoch among them.
//
// needs: zlib sentencepiece
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "meshtensor/datasets/prefetched.hpp"
#include "meshtensor/datasets/text/bleu.hpp"
#include "meshtensor/datasets/text/learn_subwords.hpp"
#include "meshtensor/datasets/text/pair_batches.hpp"
#include "support/skip.hpp"
#include "support/temporary_folder.hpp"

namespace mt = meshtensor;

namespace {

/// The batches of an epoch that threads prepare: how often each pair is in one, and the tokens that count.
void one_epoch(mt::datasets::pair_batches const& all, std::int64_t pairs, std::int64_t epoch) {
  std::vector<int> seen(static_cast<std::size_t>(pairs));
  std::int64_t tokens = 0;
  mt::datasets::prefetched<mt::datasets::pair_batch> batches(
      [&](std::int64_t number, mt::datasets::pair_batch& b) { all.read(number, b); }, epoch * all.per_epoch());
  for (std::int64_t k = 0; k < all.per_epoch(); ++k) {
    mt::datasets::pair_batch const& b = batches.next();
    for (std::int64_t pair : b.pairs)
      if (pair >= 0) ++seen[static_cast<std::size_t>(pair)];
    tokens += b.target_tokens;
  }
  CHECK(tokens == all.filling().target_tokens);
  CHECK(std::count(seen.begin(), seen.end(), 1) == all.filling().pairs);
  CHECK(std::count(seen.begin(), seen.end(), 0) == all.filling().left_out);
}

}  // namespace

TEST_CASE("Multi30K, from files to batches") {
  char const* const data = std::getenv("MESHTENSOR_DATA");
  if (data == nullptr) return meshtensor_test::skip("MESHTENSOR_DATA names no folder of data sets");
  auto const folder = std::filesystem::path(data) / "multi30k";
  if (!std::filesystem::exists(folder)) return meshtensor_test::skip("the folder MESHTENSOR_DATA has no multi30k");

  mt::datasets::pair_folder const files(folder, "en", "de");
  CHECK(files.parts() == std::vector<std::string>{"test_2016_flickr", "train", "val"});
  mt::datasets::text_pairs const train = files.read("train"), val = files.read("val"),
                                 test = files.read("test_2016_flickr");
  CHECK(train.size() == 29000);
  CHECK(val.size() == 1014);
  CHECK(test.size() == 1000);
  CHECK(mt::datasets::corpus_bleu(test.target, test.target).score == doctest::Approx(100));

  meshtensor_test::temporary_folder const kept;
  mt::datasets::subwords const vocabulary = mt::datasets::cached_subwords(kept.path, {train.source, train.target});
  CHECK(vocabulary.size() == 8000);
  int same = 0;
  for (std::string const& sentence : test.target) same += vocabulary.decode(vocabulary.encode(sentence)) == sentence;
  CHECK(same > 980);  // others have a character that is written otherwise, or none of the training's

  mt::datasets::token_pairs const tokens = vocabulary.encode(train);
  auto const buckets = mt::datasets::choose_buckets(tokens);
  CHECK(buckets == std::vector<mt::datasets::bucket>{{256, 16, 16}, {168, 24, 24}, {128, 32, 32}, {72, 48, 48}});
  mt::datasets::pair_batches const all(tokens, buckets, vocabulary.special(), 1);
  CHECK(all.per_epoch() == 147);
  CHECK(all.filling().left_out == 6);
  CHECK(std::abs(all.filling().target_tokens - 457023) < 100);  // versions of sentencepiece are apart by a piece
  CHECK(all.filling().target_padding() == doctest::Approx(0.234).epsilon(0.01));
  CHECK(all.filling().source_padding() == doctest::Approx(0.258).epsilon(0.01));
  mt::datasets::pair_batches const finer(
      tokens, mt::datasets::choose_buckets(tokens, {.count = 10, .length_multiple = 2}), vocabulary.special(), 1);
  CHECK(finer.per_epoch() == 130);
  CHECK(finer.filling().left_out == 6);
  CHECK(finer.filling().target_padding() == doctest::Approx(0.113).epsilon(0.01));
  one_epoch(all, train.size(), 0);
  one_epoch(all, train.size(), 7);

  mt::datasets::pair_batches const asked(vocabulary.encode(val), buckets, vocabulary.special());
  CHECK(asked.per_epoch() == 8);
  CHECK(asked.filling().left_out == 0);
  CHECK(std::abs(asked.filling().target_tokens - 16541) < 50);
  mt::datasets::pair_batches const translated(vocabulary.encode(test), buckets, vocabulary.special());
  CHECK(translated.per_epoch() == 7);
  CHECK(translated.filling().left_out == 0);
}

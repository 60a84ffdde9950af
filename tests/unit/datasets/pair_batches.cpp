// SPDX-License-Identifier: Apache-2.0
// Batches of pairs: every pair once an epoch, whole, between the right tokens; the order a function of seed and number;
// parts of ranks that together are the batch.
#include "meshtensor/datasets/text/pair_batches.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <thread>

namespace mt = meshtensor;

namespace {

using tokens = std::vector<std::int32_t>;
mt::datasets::special_tokens const special{.pad = 9, .unknown = 8, .begin = 7, .end = 6};
std::vector<mt::datasets::bucket> const buckets{{4, 3, 4}, {3, 6, 6}};

/// 50 pairs: sentence i of n tokens is i, i, i, …
mt::datasets::token_pairs some_pairs() {
  mt::datasets::token_pairs r;
  for (int i = 0; i < 50; ++i) {
    r.add(tokens(static_cast<std::size_t>(i % 7), 100 + i), tokens(static_cast<std::size_t>(i % 5), 200 + i));
  }
  return r;
}
std::size_t bucket_of(int i) { return i % 7 <= 2 && i % 5 <= 3 ? 0 : i % 7 <= 5 ? 1 : 2; }

tokens row(tokens const& all, std::int64_t i, std::int64_t length) {
  return {all.begin() + i * length, all.begin() + (i + 1) * length};
}
tokens filled(tokens some, std::int64_t length) {
  some.resize(static_cast<std::size_t>(length), special.pad);
  return some;
}
bool same(mt::datasets::pair_batch const& a, mt::datasets::pair_batch const& b) {
  return a.bucket == b.bucket && a.source == b.source && a.target == b.target && a.target_next == b.target_next &&
         a.pairs == b.pairs && a.target_tokens == b.target_tokens;
}

}  // namespace

TEST_CASE("every pair once an epoch, between the right tokens") {
  for (std::optional<std::uint64_t> const seed : {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(5)}) {
    mt::datasets::pair_batches const all(some_pairs(), buckets, special, seed);
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
      std::map<std::int64_t, int> seen;
      std::int64_t source_tokens = 0, target_tokens = 0, source_slots = 0, target_slots = 0;
      for (std::int64_t k = 0; k < all.per_epoch(); ++k) {
        mt::datasets::pair_batch b;
        all.read(epoch * all.per_epoch() + k, b);
        REQUIRE(b.bucket < buckets.size());
        auto const [rows, source_length, target_length] = buckets[b.bucket];
        REQUIRE(b.source.size() == static_cast<std::size_t>(rows * source_length));
        REQUIRE(b.target.size() == static_cast<std::size_t>(rows * target_length));
        REQUIRE(b.target_next.size() == b.target.size());
        REQUIRE(b.pairs.size() == static_cast<std::size_t>(rows));
        std::int64_t counted = 0;
        for (std::int64_t r = 0; r < rows; ++r) {
          std::int64_t const pair = b.pairs[static_cast<std::size_t>(r)];
          auto const i = static_cast<int>(pair);
          tokens source, target;
          if (pair >= 0) {
            CHECK(bucket_of(i) == b.bucket);
            ++seen[pair];
            source.assign(static_cast<std::size_t>(i % 7), 100 + i),
                target.assign(static_cast<std::size_t>(i % 5), 200 + i);
          }
          tokens next = target;
          target.insert(target.begin(), special.begin), source.push_back(special.end);
          if (pair >= 0) next.push_back(special.end);
          CHECK(row(b.source, r, source_length) == filled(source, source_length));
          CHECK(row(b.target, r, target_length) == filled(target, target_length));
          CHECK(row(b.target_next, r, target_length) == filled(next, target_length));
          counted += static_cast<std::int64_t>(next.size());
          if (pair >= 0) source_tokens += static_cast<std::int64_t>(source.size());
        }
        CHECK(b.target_tokens == counted);
        target_tokens += counted;
        source_slots += rows * source_length, target_slots += rows * target_length;
      }
      for (int i = 0; i < 50; ++i) CHECK(seen[i] == (bucket_of(i) < 2 ? 1 : 0));
      mt::datasets::batch_filling const& f = all.filling();
      CHECK(f.batches == all.per_epoch());
      CHECK(f.pairs + f.left_out == 50);
      CHECK(f.left_out == 7);
      CHECK(f.source_tokens == source_tokens);
      CHECK(f.target_tokens == target_tokens);
      CHECK(f.source_slots == source_slots);
      CHECK(f.target_slots == target_slots);
      CHECK(f.target_padding() ==
            doctest::Approx(1 - static_cast<double>(target_tokens) / static_cast<double>(target_slots)));
      CHECK(f.source_padding() ==
            doctest::Approx(1 - static_cast<double>(source_tokens) / static_cast<double>(source_slots)));
    }
  }
}

TEST_CASE("without a seed all stands as it was given") {
  mt::datasets::pair_batches const all(some_pairs(), buckets, special);
  std::int64_t before = -1;
  std::size_t bucket = 0;
  for (std::int64_t k = 0; k < all.per_epoch(); ++k) {
    mt::datasets::pair_batch b, again;
    all.read(k, b), all.read(k + 4 * all.per_epoch(), again);
    CHECK(same(b, again));
    CHECK(b.bucket >= bucket);
    if (b.bucket != bucket) before = -1;
    bucket = b.bucket;
    for (std::int64_t pair : b.pairs) {
      if (pair < 0) continue;
      CHECK(pair > before);
      before = pair;
    }
  }
}

TEST_CASE("a batch is a function of seed and number") {
  mt::datasets::pair_batches const one(some_pairs(), buckets, special, 1), other(some_pairs(), buckets, special, 1),
      third(some_pairs(), buckets, special, 2);
  std::set<std::vector<std::int64_t>> batches;
  int differ = 0;
  for (std::int64_t k = 5 * one.per_epoch(); k-- > 0;) {
    mt::datasets::pair_batch a, b, c;
    one.read(k, a), other.read(k * 7919 % (5 * one.per_epoch()), b), other.read(k, b), third.read(k, c);
    CHECK(same(a, b));
    differ += !same(a, c);
    batches.insert(a.pairs);
  }
  CHECK(differ > 4 * one.per_epoch());
  CHECK(static_cast<std::int64_t>(batches.size()) > 4 * one.per_epoch());  // hardly any two are the same
}

TEST_CASE("batches come in any order of buckets, and pairs in any of their batches") {
  mt::datasets::pair_batches const all(some_pairs(), buckets, special, 3);
  std::map<std::int64_t, std::set<std::int64_t>> places;  // of a pair: which number its batch has had
  std::set<std::vector<std::size_t>> orders;
  for (std::int64_t epoch = 0; epoch < 200; ++epoch) {
    std::vector<std::size_t> order;
    for (std::int64_t k = 0; k < all.per_epoch(); ++k) {
      mt::datasets::pair_batch b;
      all.read(epoch * all.per_epoch() + k, b);
      for (std::int64_t pair : b.pairs) places[pair].insert(k);
      order.push_back(b.bucket);
    }
    orders.insert(order);
  }
  CHECK(orders.size() > 50);
  for (auto const& [pair, numbers] : places) CHECK(static_cast<std::int64_t>(numbers.size()) == all.per_epoch());
}

TEST_CASE("the parts of ranks are together the batch, for any number of ranks") {
  mt::datasets::pair_batches const all(some_pairs(), buckets, special, 1);
  for (std::int64_t of = 1; of <= 6; ++of)
    for (std::int64_t k = 0; k < all.per_epoch(); ++k) {
      mt::datasets::pair_batch whole, together;
      all.read(k, whole);
      for (std::int64_t part = 0; part < of; ++part) {
        mt::datasets::pair_batch b;
        all.read(k, b, {part, of});
        CHECK(b.bucket == whole.bucket);
        CHECK(b.target_tokens == whole.target_tokens);
        CHECK(static_cast<std::int64_t>(b.pairs.size()) == mt::part_of(buckets[b.bucket].rows, of, part).count);
        together.source.insert(together.source.end(), b.source.begin(), b.source.end());
        together.target.insert(together.target.end(), b.target.begin(), b.target.end());
        together.target_next.insert(together.target_next.end(), b.target_next.begin(), b.target_next.end());
        together.pairs.insert(together.pairs.end(), b.pairs.begin(), b.pairs.end());
      }
      together.bucket = whole.bucket, together.target_tokens = whole.target_tokens;
      CHECK(same(whole, together));
    }
}

TEST_CASE("threads that read in several epochs at once") {
  mt::datasets::pair_batches const all(some_pairs(), buckets, special, 1);
  std::int64_t const count = 4 * all.per_epoch();
  std::vector<mt::datasets::pair_batch> wanted(static_cast<std::size_t>(count));
  for (std::int64_t k = 0; k < count; ++k) all.read(k, wanted[static_cast<std::size_t>(k)]);
  std::vector<std::thread> readers;
  for (std::int64_t t = 0; t < 4; ++t)
    readers.emplace_back([&, t] {
      mt::datasets::pair_batch b;
      for (std::int64_t k = 0; k < count; ++k) {
        std::int64_t const number = (k + t * all.per_epoch()) % count;
        all.read(number, b);
        CHECK(same(b, wanted[static_cast<std::size_t>(number)]));
      }
    });
  for (auto& r : readers) r.join();
}

TEST_CASE("what is no batch") {
  auto const made = [](std::vector<mt::datasets::bucket> const& some) {
    mt::datasets::pair_batches(some_pairs(), some, special);
  };
  CHECK_THROWS_WITH_AS(made({}), doctest::Contains("R55: none of 50 pairs of sentences fits in one of 0 buckets"),
                       mt::error);
  CHECK_THROWS_WITH_AS(made({{0, 3, 4}}), doctest::Contains("R55: a bucket of 0 pairs of 3 and 4 tokens is none"),
                       mt::error);
  CHECK_THROWS_AS(mt::datasets::pair_batches({}, buckets, special), mt::error);
  mt::datasets::pair_batches const all(some_pairs(), buckets, special);
  mt::datasets::pair_batch b;
  CHECK_THROWS_WITH_AS(all.read(2, b, {3, 3}), doctest::Contains("R55: there is no part 3 of 3 of the batch 2"),
                       mt::error);
  CHECK_THROWS_AS(all.read(-1, b), mt::error);
  CHECK_THROWS_AS(all.read(0, b, {-1, 3}), mt::error);
}

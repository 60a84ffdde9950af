// SPDX-License-Identifier: Apache-2.0
// Buckets: the lengths that leave the least to fill up, found again by trying all; rows by the room there is.
#include "meshtensor/datasets/text/buckets.hpp"

#include <doctest/doctest.h>

#include "meshtensor/base/philox.hpp"

namespace mt = meshtensor;
using lengths = std::vector<std::int64_t>;

namespace {

/// Pairs whose longer sides have so many tokens, with the last one.
mt::datasets::token_pairs pairs_of(lengths const& all) {
  mt::datasets::token_pairs r;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<std::int32_t> const longer(static_cast<std::size_t>(all[i]) - 1, 7), shorter(longer.size() / 2, 8);
    r.add(i % 2 == 0 ? longer : shorter, i % 2 == 0 ? shorter : longer);
  }
  return r;
}

/// What buckets of these lengths have room for; -1: a pair fits in none.
std::int64_t room(lengths const& pairs, lengths const& buckets) {
  std::int64_t sum = 0;
  for (std::int64_t p : pairs) {
    auto const b = std::find_if(buckets.begin(), buckets.end(), [&](std::int64_t l) { return p <= l; });
    if (b == buckets.end()) return -1;
    sum += *b;
  }
  return sum;
}

/// The least room of all choices of at most `count` multiples of `multiple`.
std::int64_t least(lengths const& pairs, std::int64_t count, std::int64_t multiple) {
  std::int64_t const places = (*std::max_element(pairs.begin(), pairs.end()) + multiple - 1) / multiple;
  std::int64_t best = -1;
  for (unsigned choice = 1; choice < 1u << places; ++choice) {
    lengths some;
    for (std::int64_t i = 0; i < places; ++i)
      if ((choice >> i & 1) != 0) some.push_back((i + 1) * multiple);
    if (static_cast<std::int64_t>(some.size()) > count) continue;
    std::int64_t const r = room(pairs, some);
    if (r >= 0 && (best < 0 || r < best)) best = r;
  }
  return best;
}

}  // namespace

TEST_CASE("no other lengths leave less to fill up") {
  for (std::uint64_t round = 0; round < 40; ++round) {
    mt::random_stream const random({3, 1, round}, 0);
    lengths pairs;
    auto const most = 1 + random.words(1000)[0] % 12;
    for (std::uint64_t i = 0; i < 30; ++i) {
      auto const words = random.words(i);
      pairs.push_back(1 + std::min(words[0] % most, words[1] % most));  // short ones are more
    }
    for (std::int64_t multiple : {1, 2, 3})
      for (std::int64_t count : {1, 2, 3, 4, 20}) {
        auto const found = mt::datasets::bucket_lengths(pairs_of(pairs),
                                                        {.count = count, .longest = 100, .length_multiple = multiple});
        CHECK(static_cast<std::int64_t>(found.size()) <= count);
        CHECK(room(pairs, found) == least(pairs, count, multiple));
        for (std::int64_t l : found) CHECK(l % multiple == 0);
      }
  }
}

TEST_CASE("lengths by hand") {
  lengths pairs(90, 5);
  pairs.insert(pairs.end(), 9, 17), pairs.push_back(40), pairs.push_back(41);
  auto const chosen = [&](std::int64_t count, std::int64_t longest, std::int64_t multiple) {
    return mt::datasets::bucket_lengths(pairs_of(pairs),
                                        {.count = count, .longest = longest, .length_multiple = multiple});
  };
  CHECK(chosen(2, 40, 1) == lengths{5, 40});  // 41 is too long for all
  CHECK(chosen(3, 40, 1) == lengths{5, 17, 40});
  CHECK(chosen(9, 41, 1) == lengths{5, 17, 40, 41});
  CHECK(chosen(9, 41, 8) == lengths{8, 24, 40, 48});
  CHECK(chosen(1, 100, 8) == lengths{48});
  CHECK(chosen(3, 16, 1) == lengths{5});
  CHECK_THROWS_WITH_AS(chosen(3, 4, 1), doctest::Contains("R55: none of 101 pairs of sentences fits in 3 buckets"),
                       mt::error);
  CHECK_THROWS_AS(chosen(0, 40, 1), mt::error);
}

TEST_CASE("a multiple for the lengths, another for the rows") {
  using buckets = std::vector<mt::datasets::bucket>;
  auto const pairs = pairs_of({9, 9, 10, 14, 15, 21});
  auto const chosen = [&](std::int64_t multiple, std::int64_t length_multiple) {
    return mt::datasets::choose_buckets(
        pairs, {.count = 10, .tokens = 400, .multiple = multiple, .length_multiple = length_multiple});
  };
  CHECK(chosen(8, 2) == buckets{{8, 10, 10}, {8, 14, 14}, {8, 16, 16}, {8, 22, 22}});
  CHECK(chosen(3, 2) == buckets{{3, 10, 10}, {3, 14, 14}, {3, 16, 16}, {3, 22, 22}});
  CHECK(chosen(1, 10) == buckets{{3, 10, 10}, {2, 20, 20}, {1, 30, 30}});
  auto const refusal = [&](std::int64_t length_multiple) {
    try {
      chosen(8, length_multiple);
    } catch (mt::error const& e) { return std::string(e.what()); }
    return std::string();
  };
  for (std::int64_t bad :
       {std::int64_t(0), std::int64_t(-2), std::int64_t(401), mt::datasets::bucket_options().tokens << 50})
    CHECK(refusal(bad) == "meshtensor R55: buckets cannot have multiples of " + std::to_string(bad) +
                              " as lengths: give a positive number, at most the 400 tokens that a batch has room for");
  CHECK(refusal(25) == "");
}

TEST_CASE("batches of a bucket are about as full as each other, and no more of them") {
  lengths pairs(101, 8);
  pairs.insert(pairs.end(), 40, 16), pairs.insert(pairs.end(), 7, 24);
  auto const rows = [&](std::int64_t tokens, std::int64_t multiple) {
    lengths all;
    for (mt::datasets::bucket const& b :
         mt::datasets::choose_buckets(pairs_of(pairs), {.tokens = tokens, .multiple = multiple}))
      all.push_back(b.rows);
    return all;
  };
  CHECK(rows(400, 1) == lengths{34, 20, 7});  // there is room for 50, 25 and 16: three batches, two, one
  CHECK(rows(400, 8) == lengths{40, 24, 8});
  CHECK(rows(48, 1) == lengths{6, 3, 2});
}

TEST_CASE("rows by the room there is") {
  using buckets = std::vector<mt::datasets::bucket>;
  CHECK(mt::datasets::buckets_up_to(lengths{16, 24, 32, 48}) ==
        buckets{{256, 16, 16}, {168, 24, 24}, {128, 32, 32}, {80, 48, 48}});
  CHECK(mt::datasets::buckets_up_to(lengths{5, 7}, {.tokens = 35, .multiple = 1}) == buckets{{7, 5, 5}, {5, 7, 7}});
  CHECK(mt::datasets::choose_buckets(pairs_of({3, 3, 3, 9}),
                                     {.count = 2, .tokens = 20, .multiple = 2, .length_multiple = 2}) ==
        buckets{{4, 4, 4}, {2, 10, 10}});
  auto const refusal = [](lengths const& all, std::int64_t tokens, std::int64_t multiple) {
    try {
      mt::datasets::buckets_up_to(all, {.tokens = tokens, .multiple = multiple});
    } catch (mt::error const& e) { return std::string(e.what()); }
    return std::string();
  };
  CHECK(refusal({8}, 63, 8) ==
        "meshtensor R55: a batch of 63 tokens has no room for 8 sentences of 8: allow more tokens, or fewer sentences");
  CHECK(refusal({9, 8}, 4096, 8) == "meshtensor R55: a bucket of length 8 follows one of 9: give them in rising order");
  CHECK(refusal({8, 8}, 4096, 8) != "");
  CHECK(refusal({0}, 4096, 8) != "");
  CHECK(refusal({8}, 64, 0) != "");
  CHECK(mt::datasets::buckets_up_to(lengths{8}, {.tokens = 64}).front().rows == 8);
}

// SPDX-License-Identifier: Apache-2.0
// Permutations without a table: each number once, another order for each key, every number everywhere.
#include "meshtensor/datasets/permutation.hpp"

#include <doctest/doctest.h>

#include <set>
#include <vector>

namespace mt = meshtensor;

TEST_CASE("each number once") {
  for (std::int64_t const count : {1, 2, 3, 4, 5, 15, 16, 17, 64, 65, 1000, 4096, 4097}) {
    mt::datasets::permutation const p(count, {1, 2, 3});
    std::set<std::int64_t> seen;
    for (std::int64_t i = 0; i < count; ++i) {
      REQUIRE(p(i) >= 0);
      REQUIRE(p(i) < count);
      seen.insert(p(i));
    }
    CHECK(std::ssize(seen) == count);
  }
}

TEST_CASE("every number comes to every place, and neighbours part") {
  constexpr std::int64_t count = 11, keys = 11000;
  std::vector<std::vector<int>> times(count, std::vector<int>(count));
  int neighbours = 0;
  for (std::uint64_t k = 0; k < keys; ++k) {
    mt::datasets::permutation const p(count, {7, 1, k});
    for (std::int64_t i = 0; i < count; ++i) ++times[static_cast<std::size_t>(i)][static_cast<std::size_t>(p(i))];
    neighbours += p(4) == p(3) + 1;
  }
  for (auto const& place : times)
    for (int n : place) {
      CHECK(n > 850);
      CHECK(n < 1150);
    }
  CHECK(neighbours > 850);  // 10 of 110 pairs
  CHECK(neighbours < 1150);
}

TEST_CASE("large sets are mixed") {
  constexpr std::int64_t count = 1281167;
  mt::datasets::permutation const p(count, {1, 1, 0}), q(count, {1, 1, 1});
  double mean = 0, same = 0;
  for (std::int64_t i = 0; i < 1000; ++i) mean += static_cast<double>(p(i)) / 1000, same += p(i) == q(i);
  CHECK(mean == doctest::Approx(count / 2.0).epsilon(0.1));
  CHECK(same < 3);
  CHECK(p(count - 1) < count);
}

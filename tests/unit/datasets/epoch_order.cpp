// SPDX-License-Identifier: Apache-2.0
// Orders of epochs: every permutation as likely as any other, and another one in each epoch.
#include "meshtensor/datasets/epoch_order.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace mt = meshtensor;
using numbers = std::vector<std::int64_t>;

TEST_CASE("each permutation is as likely as any other") {
  std::map<numbers, int> seen;
  for (std::uint64_t k = 0; k < 24000; ++k) {
    numbers all{1, 2, 3, 4};
    mt::datasets::shuffle(all, mt::random_stream({k, 7, 1}, 0));
    ++seen[all];
  }
  CHECK(seen.size() == 24);
  for (auto const& [order, count] : seen) CHECK(std::abs(count - 1000) < 160);  // five deviations
  numbers none, one{5};
  mt::datasets::shuffle(none, mt::random_stream()), mt::datasets::shuffle(one, mt::random_stream());
  CHECK(none.empty());
  CHECK(one == numbers{5});
}

TEST_CASE("orders are a function of seed and epoch, whatever was asked before") {
  std::vector<numbers> const sets{{1, 2, 3, 4, 5, 6, 7}, {}, {8, 9, 10}};
  mt::datasets::epoch_orders const orders(sets, {2, 5, 3}, 4), again(sets, {2, 5, 3}, 4);
  std::map<std::vector<numbers>, int> seen;
  for (std::int64_t epoch : {0, 1, 2, 9, 1, 0}) {
    auto const found = orders(epoch);
    CHECK(found->epoch == epoch);
    CHECK(found->elements == again(epoch)->elements);
    ++seen[found->elements];
    REQUIRE(found->batches.size() == 5);
    std::map<std::size_t, std::vector<std::int64_t>> firsts;
    for (auto const& b : found->batches) firsts[b.set].push_back(b.first);
    std::sort(firsts[0].begin(), firsts[0].end());
    CHECK(firsts[0] == numbers{0, 2, 4, 6});
    CHECK(firsts[2] == numbers{0});
  }
  CHECK(seen.size() == 4);
  mt::datasets::epoch_orders const as_given(sets, {2, 5, 3}, {});
  CHECK(as_given(3)->elements == sets);
  CHECK(as_given(3)->batches.back().set == 2);
}

// SPDX-License-Identifier: Apache-2.0
// Losses that are no numbers, and those far above the ones before; on one process.
#include "meshtensor/train/loss_guard.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "meshtensor/job/job.hpp"

namespace mt = meshtensor;

TEST_CASE("what is no number is wrong from the first step on") {
  auto const job = mt::job::as_threads();
  mt::loss_guard is_wrong(job);
  for (double const x : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                         -std::numeric_limits<double>::infinity()}) {
    CHECK(is_wrong(x));
    CHECK(is_wrong.reason() == "the loss is not finite");
    CHECK_FALSE(is_wrong(3));
    CHECK(is_wrong.reason().empty());
  }
}

TEST_CASE("a spike is one beside the mean of the last losses that were good") {
  auto const job = mt::job::as_threads();
  mt::loss_guard is_wrong(job, {.factor = 10, .last = 4});
  for (double const x : {1000.0, 2.0, 2.0, 4.0}) CHECK_FALSE(is_wrong(x));  // too few are known
  CHECK_FALSE(is_wrong(4));   // the mean of 1000, 2, 2, 4; it leaves 2, 2, 4, 4
  CHECK_FALSE(is_wrong(29));  // 29.9 would be ten times their mean
  CHECK_FALSE(is_wrong(9));   // leaves 4, 4, 29, 9
  CHECK(is_wrong(116));
  CHECK(is_wrong.reason() == "the loss of 116.000000 is far above 11.500000, the mean of the last 4");
  CHECK(is_wrong(116));  // the first one counts for nothing
  CHECK_FALSE(is_wrong(114));
  is_wrong.forget();
  CHECK_FALSE(is_wrong(1e9));
}

TEST_CASE("losses below zero") {
  auto const job = mt::job::as_threads();
  mt::loss_guard is_wrong(job, {.factor = 3, .last = 2});
  CHECK_FALSE(is_wrong(-10));
  CHECK_FALSE(is_wrong(-10));
  CHECK_FALSE(is_wrong(-60));
  CHECK_FALSE(is_wrong(34));  // the mean is -35
  CHECK(is_wrong(30));        // … and -13
}

TEST_CASE("what is no guard") {
  auto const job = mt::job::as_threads();
  for (mt::loss_guard_options const& how : {mt::loss_guard_options{.factor = 1}, {.factor = 0.0 / 0.0}, {.last = 0}})
    CHECK_THROWS_WITH_AS(mt::loss_guard(job, how), doctest::Contains("R34: a loss cannot be told to be wrong at "),
                         mt::error);
}

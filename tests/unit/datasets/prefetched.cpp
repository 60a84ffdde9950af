// SPDX-License-Identifier: Apache-2.0
// Values made ahead of need: the same in the same order for any number of threads, no more than may wait, and what is
// thrown in its turn.
#include "meshtensor/datasets/prefetched.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <stdexcept>
#include <string>

namespace mt = meshtensor;

namespace {

/// Threads that take turns in any order: later values are often done sooner.
void dawdle(std::int64_t number) {
  if (number % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
}

}  // namespace

TEST_CASE("the same sequence for any number of threads, from any number on") {
  for (int const threads : {0, 1, 2, 5})
    for (int const ahead : {1, 2, 7})
      for (std::int64_t const first : {0, 1000}) {
        mt::datasets::prefetched<std::string> values(
            [](std::int64_t number, std::string& s) { dawdle(number), s = std::to_string(number * number); }, first,
            threads, ahead);
        for (std::int64_t i = first; i < first + 60; ++i) {
          CHECK(values.next() == std::to_string(i * i));
          CHECK(values.number() == i);
        }
      }
}

TEST_CASE("a value stays until the next one is asked for, and no more are made than may wait") {
  std::atomic<std::int64_t> highest = -1;
  std::int64_t given = -1;
  mt::datasets::prefetched<std::vector<std::int64_t>> values(
      [&](std::int64_t number, std::vector<std::int64_t>& v) {
        v.assign(1000, number);
        for (std::int64_t seen = highest; seen < number && !highest.compare_exchange_weak(seen, number);) {}
      },
      0, 3, 2);
  for (int i = 0; i < 50; ++i) {
    auto const& v = values.next();
    ++given;
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    CHECK(highest <= given + 2);
    CHECK(std::set<std::int64_t>(v.begin(), v.end()) == std::set<std::int64_t>{given});
  }
}

TEST_CASE("memory is used again") {
  std::set<void const*> places;
  mt::datasets::prefetched<std::vector<int>> values([](std::int64_t, std::vector<int>& v) { v.assign(100, 1); }, 0, 2,
                                                    3);
  for (int i = 0; i < 40; ++i) places.insert(values.next().data());
  CHECK(places.size() <= 4);
}

TEST_CASE("what is thrown comes in its turn, and the next values behind it") {
  for (int const threads : {0, 1, 3}) {
    mt::datasets::prefetched<int> values(
        [](std::int64_t number, int& v) {
          dawdle(number);
          if (number % 4 == 2) throw std::runtime_error("number " + std::to_string(number));
          v = static_cast<int>(number);
        },
        0, threads);
    for (int i = 0; i < 20; ++i) {
      if (i % 4 == 2)
        CHECK_THROWS_WITH_AS(values.next(), doctest::Contains(("number " + std::to_string(i)).c_str()),
                             std::runtime_error);
      else CHECK(values.next() == i);
    }
  }
}

TEST_CASE("ends at any time") {
  for (int count = 0; count < 20; ++count) {
    mt::datasets::prefetched<int> values([](std::int64_t number, int& v) { dawdle(number), v = 1; }, 0, 3, 2);
    for (int i = 0; i < count; ++i) CHECK(values.next() == 1);
  }
}

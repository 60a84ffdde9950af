// SPDX-License-Identifier: Apache-2.0
// Teams: every index once, exceptions; the affinity mask; the arena.
// needs: tbb
#include "meshtensor/device/cpu/threads.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "meshtensor/base/memory.hpp"

namespace mt = meshtensor;
namespace cpu = mt::cpu;

TEST_CASE("a loop visits every index once, in ranges that start at multiples of the grain") {
  for (int threads : {1, 2, 5})
    for (std::int64_t count : {0, 1, 7, 64, 1000}) {
      cpu::thread_team team(threads);
      CHECK(team.size() == threads);
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
      std::atomic<int> wrong{0};
      team.parallel_for(count, 8, [&](std::int64_t first, std::int64_t last) {
        if (first % 8 != 0 || first >= last) ++wrong;
        for (auto i = first; i < last; ++i) ++visits[static_cast<std::size_t>(i)];
      });
      for (auto& v : visits) wrong += v != 1;
      CHECK(wrong == 0);
    }
}

TEST_CASE("a loop uses the threads of its team and no more") {
  cpu::thread_team team(2);
  std::atomic<int> inside{0}, most{0};
  team.parallel_for(64, 1, [&](std::int64_t first, std::int64_t last) {
    int const now = ++inside;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {}
    for (auto i = first; i < last; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --inside;
  });
  CHECK(most <= 2);
}

TEST_CASE("an exception reaches the caller, and the team works on") {
  cpu::thread_team team(3);
  CHECK_THROWS_AS(team.parallel_for(100, 1,
                                    [](std::int64_t, std::int64_t last) {
                                      if (last > 10) throw std::runtime_error("inside");
                                    }),
                  std::runtime_error);
  std::atomic<int> sum{0};
  team.parallel_for(10, 1, [&](std::int64_t first, std::int64_t last) { sum += static_cast<int>(last - first); });
  CHECK(sum == 10);
}

TEST_CASE("the affinity mask decides how many cores are usable") {
  cpu_set_t before, one;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CHECK(mt::usable_cores().count() == static_cast<std::size_t>(CPU_COUNT(&before)));
  int core = 0;
  while (!CPU_ISSET(core, &before)) ++core;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  auto const bound = mt::usable_cores();
  int const budget = cpu::thread_budget();
  sched_setaffinity(0, sizeof before, &before);
  CHECK(bound.count() == 1);
  CHECK(bound[static_cast<std::size_t>(core)]);
  CHECK(budget == 1);
  CHECK(cpu::thread_budget(1 << 20) == 1);
}

TEST_CASE("an arena is aligned, zeroed and moves with its address") {
  for (std::size_t bytes : {std::size_t{1}, std::size_t{4097}, std::size_t{3} << 20}) {
    mt::arena a(bytes);
    CHECK(a.size() == bytes);
    auto const address = reinterpret_cast<std::uintptr_t>(a.data());
    CHECK(address % (bytes >= mt::arena::large_page ? mt::arena::large_page : mt::arena::alignment) == 0);
    int set = 0;
    for (std::size_t i = 0; i < bytes; ++i) set += a.data()[i] != std::byte{0};
    CHECK(set == 0);
    *a.at<char>(bytes - 1) = 'x';
    mt::arena b(std::move(a));
    CHECK(a.data() == nullptr);
    CHECK(a.size() == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(b.data()) == address);
    a = std::move(b);
    CHECK(*a.at<char>(bytes - 1) == 'x');
  }
  CHECK(mt::arena().data() == nullptr);
  CHECK(mt::arena(0).size() == 0);
  for (std::size_t impossible : {std::size_t{1} << 62, std::numeric_limits<std::size_t>::max() - 5}) {
    try {
      mt::arena a(impossible);
      FAIL("there cannot be so much memory");
    } catch (mt::error const& e) { CHECK(e.code() == "M10"); }
  }
  std::size_t pages = 0;  // that this process has: what its limit leaves beside them is available
  std::ifstream("/proc/self/statm") >> pages;
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  rlimit const little{pages * static_cast<std::size_t>(getpagesize()) + (1 << 26), before.rlim_max};
  setrlimit(RLIMIT_AS, &little);
  std::int64_t const left = mt::available_bytes();
  setrlimit(RLIMIT_AS, &before);
  CHECK(left <= (1 << 26) + (1 << 20));  // pages of the stream above may be free again
  CHECK(left > 1 << 25);
}

// SPDX-License-Identifier: Apache-2.0
// Threads that stay from run to run.
#include "meshtensor/comm/local/thread_pool.hpp"

#include <doctest/doctest.h>

#include <mutex>

#include "meshtensor/comm/local.hpp"

namespace mt = meshtensor;

namespace {

std::vector<std::thread::id> threads_of(mt::comm::thread_pool& thread_pool, int places) {
  std::vector<std::thread::id> ids(static_cast<std::size_t>(places));
  thread_pool.run([&](int place) { ids[static_cast<std::size_t>(place)] = std::this_thread::get_id(); });
  return ids;
}

}  // namespace

TEST_CASE("every place has its own thread, the same one in every run; the first is the caller's") {
  for (int places : {1, 2, 5}) {
    mt::comm::thread_pool thread_pool(places);
    CHECK(thread_pool.size() == 1);
    thread_pool.gather();
    CHECK(thread_pool.size() == places);
    auto const ids = threads_of(thread_pool, places);
    CHECK(ids[0] == std::this_thread::get_id());
    for (std::size_t i = 0; i < ids.size(); ++i)
      for (std::size_t k = 0; k < i; ++k) CHECK(ids[i] != ids[k]);
    for (int i = 0; i < 20; ++i) {
      thread_pool.gather();
      CHECK(threads_of(thread_pool, places) == ids);
    }
    std::thread([&] {  // another caller, the same threads
      auto const others = threads_of(thread_pool, places);
      CHECK(others[0] == std::this_thread::get_id());
      CHECK(std::equal(others.begin() + 1, others.end(), ids.begin() + 1));
    })
        .join();
  }
}

TEST_CASE("a thread_pool ends, whether or not it has worked, at once or after sleep") {
  { mt::comm::thread_pool never(3); }
  {
    mt::comm::thread_pool idle(3);
    idle.gather();
  }
  mt::comm::thread_pool asleep(3);
  asleep.gather();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::atomic<int> done = 0;
  asleep.run([&](int) { ++done; });
  CHECK(done == 3);
}

TEST_CASE("every run is seen by all, and all of it by the caller") {
  mt::comm::thread_pool thread_pool(4);
  thread_pool.gather();
  int runs[4] = {};  // no atomics: a sanitizer sees what would go wrong
  for (int i = 0; i < 500; ++i) {
    int const now = i;
    thread_pool.run([&](int place) { runs[place] += now; });
  }
  for (int n : runs) CHECK(n == 499 * 250);
}

TEST_CASE("a world that runs cannot be run") {
  mt::local_world world(2), other(2);
  std::string said;
  world.run([&](mt::local_member& m) {
    if (m.rank() == 0) {
      int inside = 0;
      other.run([&](mt::local_member& o) {  // another one can
        if (o.rank() == 1) ++inside;
      });
      CHECK(inside == 1);
      try {
        world.run([](mt::local_member&) {});
      } catch (mt::error const& e) { said = e.what(); }
    }
    m.barrier();
  });
  CHECK(said.starts_with("meshtensor R27: "));
  int ran = 0;
  world.run([&](mt::local_member& m) {
    m.barrier();
    if (m.rank() == 1) ++ran;
  });
  CHECK(ran == 1);
}

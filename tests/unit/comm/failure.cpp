// SPDX-License-Identifier: Apache-2.0
// Ranks that fail, leave, come late or call for something else: nothing waits for ever, and the message says who.
#include <doctest/doctest.h>

#include <atomic>
#include <mutex>
#include <optional>

#include "meshtensor/comm/local.hpp"

namespace mt = meshtensor;
using std::chrono::milliseconds;

namespace {

struct world_of_four {
  explicit world_of_four(mt::wait_limits const& limits = {}) : world(4, limits) {}
  mt::local_world world;
  int members[4] = {0, 1, 2, 3};
  mt::group all(mt::local_member& m) const { return {members, 4, m.rank()}; }
};

mt::collective_call reals(std::int64_t n) {
  mt::collective_call call;
  call.dims = 1, call.extent[0] = n;
  return call;
}

// What every rank was told, and what world.run threw.
template <class Program>
std::vector<std::string> told(mt::local_world& world, Program program) {
  std::vector<std::string> said(static_cast<std::size_t>(world.size()) + 1);
  try {
    world.run([&](mt::local_member& m) {
      try {
        program(m);
      } catch (mt::error const& e) {
        said[static_cast<std::size_t>(m.rank())] = e.what();
        throw;
      }
    });
  } catch (std::exception const& e) { said.back() = e.what(); }
  return said;
}

bool contains(std::string const& text, char const* words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("a rank that throws ends all waits, and its own exception comes out") {
  world_of_four w;
  auto const said = told(w.world, [&](mt::local_member& m) {
    std::vector<float> x(1000), y(1000);
    for (int step = 0; step < 5; ++step) {
      if (step == 3 && m.rank() == 2) throw std::logic_error("out of memory");
      auto r = m.start(reals(1000), w.all(m), x.data(), y.data());
      m.wait(r);
    }
  });
  for (std::size_t r : {0u, 1u, 3u}) CHECK(said[r] == "meshtensor R21: rank 2 failed: out of memory");
  CHECK(said.back() == "out of memory");
  // The world stays failed.
  CHECK_THROWS_WITH_AS(w.world.member(0).barrier(), "meshtensor R21: rank 2 failed: out of memory", mt::error);
}

TEST_CASE("poison from outside, with ranks asleep in a wait") {
  world_of_four w;
  std::thread killer([&] {
    std::this_thread::sleep_for(milliseconds(20));
    w.world.poison(3, "lost");
    w.world.poison(1, "too late to count");
  });
  auto const said = told(w.world, [&](mt::local_member& m) {
    int const alone = 3;
    while (m.rank() == 3) {  // busy until the others fail
      auto r = m.start(reals(0), {&alone, 1, 0}, nullptr, nullptr);
      m.wait(r);
    }
    float x = 0;
    auto r = m.start(reals(1), w.all(m), &x, &x);
    m.wait(r);
  });
  killer.join();
  for (std::size_t r = 0; r < 4; ++r) CHECK(said[r] == "meshtensor R21: rank 3 failed: lost");
}

TEST_CASE("abort throws in the rank that calls it and in all others") {
  world_of_four w;
  auto const said = told(w.world, [&](mt::local_member& m) {
    if (m.rank() == 1) m.abort("no such file");
    m.barrier();
  });
  for (std::string const& s : said) CHECK(s == "meshtensor R21: rank 1 failed: no such file");
}

TEST_CASE("a rank that leaves the program while others wait for it") {
  world_of_four w;
  auto const said = told(w.world, [&](mt::local_member& m) {
    m.barrier();
    if (m.rank() == 0) return;
    float x = 0;
    auto r = m.start(reals(1), w.all(m), &x, &x);
    m.wait(r);
  });
  CHECK(said[0].empty());
  CHECK(said[1] ==
        "meshtensor R21: rank 0 failed: it left the program and did not start collective 1 of ranks {0, 1, 2, 3} "
        "(all_reduce sum f32[1])");
}

TEST_CASE("the watchdog names the missing rank and the collective") {
  world_of_four w({.end = milliseconds(50)});
  std::atomic<int> started{0};
  std::atomic<bool> over{false};
  auto const said = told(w.world, [&](mt::local_member& m) {
    if (m.rank() == 2) {
      while (!over) std::this_thread::yield();  // stuck elsewhere
      return;
    }
    float x = 0;
    auto r = m.start(reals(1), w.all(m), &x, &x);
    for (++started; started < 3;) std::this_thread::yield();  // none of the others is late
    try {
      m.wait(r);
    } catch (...) {
      over = true;
      throw;
    }
  });
  CHECK(contains(said[0], "R22: rank 2 did not start collective 0 of ranks {0, 1, 2, 3} (all_reduce sum f32[1])"));
  CHECK(contains(said[0], "within 50 ms of rank"));
  CHECK(said[1] == said[0]);
  CHECK(said[3] == said[0]);
}

TEST_CASE("who is late is said once, and waited for") {
  std::vector<std::string> said;
  std::mutex saying;
  mt::wait_limits limits{.warn = milliseconds(50), .end = milliseconds(0)};
  limits.say = [&](std::string const& sentence) {
    std::lock_guard const lock(saying);
    said.push_back(sentence);
  };
  world_of_four w(limits);
  std::atomic<int> started{0};
  auto const thrown = told(w.world, [&](mt::local_member& m) {
    auto const heard = [&] {
      std::lock_guard const lock(saying);
      return !said.empty();
    };
    while (m.rank() == 2 && !heard()) std::this_thread::yield();
    std::vector<float> x(1000), y(1000);
    auto call = reals(1000);
    call.file = "train.cpp", call.line = 31;
    auto r = m.start(call, w.all(m), x.data(), y.data());
    for (++started; started < 3;) std::this_thread::yield();  // none of the others is late
    m.wait(r);
  });
  CHECK(thrown.back().empty());
  REQUIRE(said.size() == 1);
  CHECK(
      said[0].starts_with("R22: rank 2 did not start collective 0 of ranks {0, 1, 2, 3} (all_reduce sum f32[1000] "
                          "(train.cpp:31)) within 50 ms of rank "));
}

TEST_CASE("slow is not late while the timeout lasts") {
  world_of_four w({.end = milliseconds(20000)});
  auto const said = told(w.world, [&](mt::local_member& m) {
    if (m.rank() == 2) std::this_thread::sleep_for(milliseconds(50));
    m.barrier();
  });
  CHECK(said.back().empty());
}

TEST_CASE("members that call for different collectives") {
  world_of_four w;
  auto const said = told(w.world, [&](mt::local_member& m) {
    std::vector<float> x(8), y(8);
    auto call = reals(8);
    if (m.rank() == 3) call.op = mt::reduction::max;
    if (m.rank() != 3) m.barrier();  // rank 3 forgot it; who comes first decides who is told so
    auto r = m.start(call, w.all(m), x.data(), y.data());
    m.wait(r);
  });
  CHECK(contains(said.back(), "all_reduce max f32[8]"));
  CHECK(contains(said.back(), "a barrier"));
  CHECK(contains(said.back(), "collective 0 of ranks {0, 1, 2, 3}"));
}

TEST_CASE("a request that is given up before it is complete") {
  world_of_four w;
  auto const said = told(w.world, [&](mt::local_member& m) {
    std::vector<float> x(1000), y(1000);
    std::optional<mt::local_member::request> r = m.start(reals(1000), w.all(m), x.data(), y.data());
    if (m.rank() == 1) r.reset();
    else m.wait(*r);
  });
  for (std::size_t r : {0u, 2u, 3u})
    CHECK(said[r] == "meshtensor R21: rank 1 failed: it abandoned collective 0 of ranks {0, 1, 2, 3}");
}

TEST_CASE("buffers of failing ranks are not read afterwards") {
  // Ranks fail at all moments while their peers read megabytes from them; a sanitizer sees what would go wrong.
  for (int round = 0; round < 20; ++round) {
    world_of_four w;
    auto const said = told(w.world, [&](mt::local_member& m) {
      auto x = std::make_unique<std::vector<float>>(200000, 1.0f);
      std::vector<float> y(200000);
      auto r = m.start(reals(200000), w.all(m), x->data(), y.data());
      if (m.rank() == round % 4) {
        for (int i = 0; i < round * 50; ++i) m.test(r);
        throw mt::error("R99", "given up");
      }
      for (;;) {
        m.wait(r);
        r = m.start(reals(200000), w.all(m), x->data(), y.data());
      }
    });
    CHECK(contains(said.back(), "R"));
  }
}

TEST_CASE("calls and groups that make no sense are refused before anything is sent") {
  world_of_four w;
  auto& m = w.world.member(1);
  auto call = reals(3);
  call.kind = mt::collective::reduce_scatter, call.split = 0, call.split_grain = 2;
  CHECK_THROWS_AS(m.start(call, w.all(m), nullptr, nullptr), mt::error);
  int const strangers[] = {1, 7};
  CHECK_THROWS_AS(m.start(reals(3), {strangers, 2, 0}, nullptr, nullptr), mt::error);
  CHECK_THROWS_AS(m.prepare({w.members, 4, 0}), mt::error);  // that is rank 0's index
}

// SPDX-License-Identifier: Apache-2.0
// How long a rank waits: what the environment says, and what counts as waiting.
#include "meshtensor/comm/wait_limits.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>  // setenv

#include <thread>

namespace mt = meshtensor;
using std::chrono::milliseconds;

namespace {
mt::wait_limits with(char const* warn, char const* end) {
  for (auto const& [name, value] : {std::pair{"MESHTENSOR_WARN_SECONDS", warn}, {"MESHTENSOR_WAIT_SECONDS", end}})
    if (value != nullptr) setenv(name, value, 1);
    else unsetenv(name);
  struct restored {
    ~restored() { unsetenv("MESHTENSOR_WARN_SECONDS"), unsetenv("MESHTENSOR_WAIT_SECONDS"); }
  } const at_the_end;
  return mt::limits_in_environment();
}
}  // namespace

TEST_CASE("limits hold without being asked for") {
  auto const p = with(nullptr, nullptr);
  CHECK(p.warn == std::chrono::seconds(60));
  CHECK(p.end == std::chrono::seconds(600));
  CHECK(p.first() == p.warn);
  CHECK(!p.endless());
}

TEST_CASE("seconds, parts of them, and none") {
  auto p = with("0.5", "0.0001");
  CHECK(p.warn == milliseconds(500));
  CHECK(p.end == milliseconds(1));  // not none
  CHECK(p.first() == milliseconds(1));
  p = with("0", "20");
  CHECK(p.first() == milliseconds(20000));
  CHECK(consequence(p) == "; after 20 s the job ends (MESHTENSOR_WAIT_SECONDS)");
  p = with("30", "0");
  CHECK(p.first() == milliseconds(30000));
  CHECK(consequence(p).empty());
  CHECK(!p.endless());
  CHECK(with("0", "0").endless());
}

TEST_CASE("what is no number of seconds is refused") {
  for (char const* value : {"", "soon", "-1", "5s", "nan", "inf", "1e300"}) {
    CHECK_THROWS_WITH_AS(with(nullptr, value),
                         ("meshtensor R29: MESHTENSOR_WAIT_SECONDS is '" + std::string(value) +
                          "', but takes a number of seconds: 600, 0.5, or 0 for no limit")
                             .c_str(),
                         mt::error);
    CHECK_THROWS_AS(with(value, nullptr), mt::error);
  }
}

TEST_CASE("times in words") {
  CHECK(mt::text_of(milliseconds(60000)) == "60 s");
  CHECK(mt::text_of(milliseconds(1500)) == "1500 ms");
}

TEST_CASE("a process that was stopped has not waited for so long") {
  mt::waiting_time waited;
  waited.restart();
  std::this_thread::sleep_for(milliseconds(30));
  CHECK(waited.look() >= milliseconds(30));
  std::this_thread::sleep_for(milliseconds(1500));  // no look for longer than a second
  auto const so_far = waited.look();
  CHECK(so_far >= milliseconds(1030));
  CHECK(so_far < milliseconds(2100));  // but for two looks
  waited.restart();
  CHECK(waited.look() <= milliseconds(1000));
}

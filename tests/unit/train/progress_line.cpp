// SPDX-License-Identifier: Apache-2.0
// The line that says how far a job is: its words, when it is written, and that it leaves a terminal clean.
#include "meshtensor/train/progress_line.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace mt = meshtensor;

namespace {

struct paper {
  std::FILE* const file = std::tmpfile();
  ~paper() { std::fclose(file); }
  std::string text() const {
    std::fflush(file);
    std::string all(static_cast<std::size_t>(std::ftell(file)), '\0');
    std::rewind(file);
    REQUIRE(std::fread(all.data(), 1, all.size(), file) == all.size());
    return all;
  }
};

mt::progress_facts const facts{.step = 120, .steps = 2940, .loss = 5.897, .per_second = 4437.4, .seconds_left = 751};

}  // namespace

TEST_CASE("the words") {
  CHECK(text_of(facts) == "step 120/2940  loss 5.8970  4437 tokens/s  12:31 left");
  CHECK(text_of(mt::progress_facts{.step = 7, .loss = 1}) == "step 7  loss 1.0000  0 tokens/s  0:00 left");
  CHECK(text_of(mt::progress_facts{.step = 7, .loss = 1, .per_second = 24.6, .units = "images", .waiting = 0.126}) ==
        "step 7  loss 1.0000  25 images/s  13 % waiting for data  0:00 left");
  CHECK(mt::clock_text(0) == "0:00");
  CHECK(mt::clock_text(59.6) == "1:00");
  CHECK(mt::clock_text(3599.4) == "59:59");
  CHECK(mt::clock_text(3600) == "1:00:00");
  CHECK(mt::clock_text(100 * 3600 + 61) == "100:01:01");
  CHECK(mt::clock_text(-1) == "0:00");
  CHECK(mt::clock_text(std::numeric_limits<double>::quiet_NaN()) == "0:00");
  CHECK(mt::clock_text(std::numeric_limits<double>::infinity()).size() > 10);
}

TEST_CASE("a line every ten seconds") {
  paper const p;
  mt::progress_line line(p.file, false);
  for (int second = 100; second < 125; ++second) line.show({.step = second}, second);
  line.clear();
  CHECK(p.text() ==
        "step 100  loss 0.0000  0 tokens/s  0:00 left\nstep 110  loss 0.0000  0 tokens/s  0:00 left\n"
        "step 120  loss 0.0000  0 tokens/s  0:00 left\n");
}

TEST_CASE("a line in the place of the last one") {
  paper const p;
  {
    mt::progress_line line(p.file, true);
    line.clear();
    line.show(facts, 100), line.show(facts, 100.1);
    line.clear(), line.clear();
    line.show(facts, 101);
  }
  std::string const shown = "\rstep 120/2940  loss 5.8970  4437 tokens/s  12:31 left\x1b[K";
  CHECK(p.text() == shown + "\r\x1b[K" + shown + "\r\x1b[K");
}

TEST_CASE("a process that does not speak says nothing") {
  mt::progress_line line(nullptr, true);
  line.show(facts), line.clear();
}

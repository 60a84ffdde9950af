// SPDX-License-Identifier: Apache-2.0
// The line that says how far a job is: its words, when it is written, and that it leaves a terminal clean.
#include "meshtensor/train/progress_line.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <utility>

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

mt::progress_facts const facts{
    .step = 120, .steps = 2940, .loss = 5.897, .per_second = 4437.4, .seconds_left = 751, .units = "tokens"};

}  // namespace

TEST_CASE("the words") {
  CHECK(text_of(facts) == "step 120/2940  loss 5.8970  4437 tokens/s  12:31 left");
  CHECK(text_of(mt::progress_facts{.step = 7, .loss = 1}) == "step 7  loss 1.0000");  // what is not known is left out
  CHECK(text_of(mt::progress_facts{.step = 7, .per_second = 24.6, .seconds_left = 3}) ==
        "step 7  loss 0.0000  25/s  0:03 left");
  CHECK(text_of(mt::progress_facts{.step = 7, .loss = 1, .per_second = 24.6, .units = "images", .waiting = 0.126}) ==
        "step 7  loss 1.0000  25 images/s  13 % waiting for data");
  for (auto const& [rate, text] : {std::pair{0.25, "0.25 rows/s"},
                                   {9.9, "9.90 rows/s"},
                                   {42.4, "42 rows/s"},
                                   {9999.4, "9999 rows/s"},
                                   {12345.0, "12.3 k rows/s"},
                                   {9.876e5, "988 k rows/s"},
                                   {1.234e6, "1.23 M rows/s"}})
    CHECK(text_of(mt::progress_facts{.per_second = rate, .units = "rows"}) ==
          std::string("step 0  loss 0.0000  ") + text);
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
  CHECK(p.text() == "step 100  loss 0.0000\nstep 110  loss 0.0000\nstep 120  loss 0.0000\n");  // no escapes
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

TEST_CASE("with a unit the line counts, from the first step that it sees") {
  paper const p;
  mt::progress_line line(p.file, false, {"images", 256});
  for (int i = 0; i <= 100; ++i) line.show({.step = 1000 + i, .steps = 1200, .loss = 1}, 50 + i * 0.5);
  CHECK(p.text() ==
        "step 1000/1200  loss 1.0000\n"
        "step 1020/1200  loss 1.0000  512 images/s  1:30 left\n"
        "step 1040/1200  loss 1.0000  512 images/s  1:20 left\n"
        "step 1060/1200  loss 1.0000  512 images/s  1:10 left\n"
        "step 1080/1200  loss 1.0000  512 images/s  1:00 left\n"
        "step 1100/1200  loss 1.0000  512 images/s  0:50 left\n");
}

TEST_CASE("what a caller knows better stands") {
  paper const p;
  mt::progress_line line(p.file, false, {"images", 256});
  line.show({.step = 1}, 10);
  line.show({.step = 2, .steps = 3, .per_second = 7, .seconds_left = 9, .units = "frames"}, 20);
  CHECK(p.text() == "step 1  loss 0.0000\nstep 2/3  loss 0.0000  7.00 frames/s  0:09 left\n");
}

TEST_CASE("a process that does not speak says nothing") {
  mt::progress_line line(nullptr, true);
  line.show(facts), line.clear();
}

// SPDX-License-Identifier: Apache-2.0
// What MESHTENSOR_PRINT_AFTER and MESHTENSOR_TIME_PASSES show of the passes of an executable, on standard error.
//
// passes: start-up
// needs: cpu
#include "meshtensor/run/pass_log.hpp"

#include <doctest/doctest.h>
#include <stdio.h>   // fileno
#include <stdlib.h>  // setenv
#include <unistd.h>  // dup2

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "meshtensor/device/cpu/device.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct in : mt::dim<"in", 4> {} in;

struct learning {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, in);
    auto const loss = mean(tanh(x * s.parameter("w", in)));
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

/// What `f` writes to standard error.
std::string errors_of(std::function<void()> const& f) {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  std::fflush(stderr);
  int const kept = dup(fileno(stderr));
  dup2(fileno(file), fileno(stderr));
  f();
  std::fflush(stderr);
  dup2(kept, fileno(stderr));
  close(kept);
  std::string text(static_cast<std::size_t>(std::ftell(file)), ' ');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}
/// What is shown while an executable is made, with these variables.
std::string shown(char const* print_after, char const* time_passes) {
  setenv("MESHTENSOR_PRINT_AFTER", print_after, 1), setenv("MESHTENSOR_TIME_PASSES", time_passes, 1);
  auto const before = std::exchange(mt::on_warning(), [](std::string const&) {});  // of the machine
  mt::job const job(0, nullptr);
  mt::store weights(job);
  std::string const text = errors_of(
      [&] { mt::executable<learning, mt::mesh<>, mt::layout<>, mt::cpu_device> const step(weights, batch(2)); });
  unsetenv("MESHTENSOR_PRINT_AFTER"), unsetenv("MESHTENSOR_TIME_PASSES");
  mt::on_warning() = before;
  return text;
}
std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}
std::vector<char const*> plan_step_names() {
  return std::apply([](auto const&... steps) { return std::vector<char const*>{steps.name...}; }, mt::plan_steps<>);
}
std::string headline(char const* pass) { return std::string("---- learning after ") + pass + " ----\n"; }

}  // namespace

TEST_CASE("nothing is shown that was not asked for") {
  CHECK(shown("", "") == "");
  CHECK(shown("", "0") == "");
  CHECK(shown("no_such_pass", "") == "");
}

TEST_CASE("the module behind one pass") {
  std::string const after_fuse = shown("fuse", "");
  CHECK(after_fuse.starts_with(headline("fuse")));
  CHECK(count_of(after_fuse, "---- learning after ") == 1);
  CHECK(after_fuse.find("= kernel(") != after_fuse.npos);
  CHECK(after_fuse.find("# pass_log.cpp:") != after_fuse.npos);
  std::string const before = shown("simplify", "");
  CHECK(before.starts_with(headline("simplify")));
  CHECK(before.find("tanh(") != before.npos);
  CHECK(before.find("= kernel(") == before.npos);
  std::string const planned = shown("plan_memory", "");
  CHECK(planned.starts_with(headline("plan_memory")));
  CHECK(count_of(planned, "---- learning after ") == 1);
  CHECK(planned.find("= kernel(") != planned.npos);
}

TEST_CASE("the module behind each pass and each step that plans, in their order") {
  std::string const all = shown("all", "");
  std::size_t at = 0;
  for (int p = 0; p < mt::pass_count; ++p) {
    std::size_t const found = all.find(headline(mt::passes<>[p].name), at);
    CHECK_MESSAGE(found != all.npos, mt::passes<>[p].name);
    if (found != all.npos) at = found + 1;
  }
  for (char const* const step : plan_step_names()) {  // they leave the module as it is
    std::size_t const found = all.find(headline(step) + "(no change)\n", at);
    CHECK_MESSAGE(found != all.npos, step);
    if (found != all.npos) at = found + 1;
  }
  CHECK(count_of(all, "---- learning after ") == mt::pass_count + mt::plan_step_count);
}

TEST_CASE("how long each pass took") {
  std::string const times = shown("", "1");
  CHECK(times.starts_with("passes of learning, "));
  CHECK(count_of(times, "\n") == 1 + mt::pass_count + mt::plan_step_count);  // a headline, and each step
  CHECK(count_of(times, " ms ") == mt::pass_count + mt::plan_step_count);
  std::size_t at = 0;
  for (int p = 0; p < mt::pass_count; ++p) {
    std::size_t const found = times.find("\n  " + std::string(mt::passes<>[p].name) + " ", at);
    CHECK_MESSAGE(found != times.npos, mt::passes<>[p].name);
    if (found != times.npos) at = found;
  }
  for (char const* const step : plan_step_names()) {
    std::size_t const found = times.find("\n  " + std::string(step) + " ", at);
    CHECK_MESSAGE(found != times.npos, step);
    if (found != times.npos) at = found;
  }
}

TEST_CASE("a program whose passes the compiler has run") {
  auto const said = [](char const* print_after, char const* time_passes) {
    setenv("MESHTENSOR_PRINT_AFTER", print_after, 1), setenv("MESHTENSOR_TIME_PASSES", time_passes, 1);
    std::string const text = errors_of([] { mt::say_that_passes_have_run("learning"); });
    unsetenv("MESHTENSOR_PRINT_AFTER"), unsetenv("MESHTENSOR_TIME_PASSES");
    return text;
  };
  std::string const why =
      "meshtensor: the compiler has run the passes of learning: compile with MESHTENSOR_EARLY=0 to see them\n";
  CHECK(said("fuse", "") == why);
  CHECK(said("", "1") == why);
  CHECK(said("", "").empty());
}

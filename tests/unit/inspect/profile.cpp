// SPDX-License-Identifier: Apache-2.0
// The table of a step's times: names in the program's words, 120 columns, and shares that compare with something.
// passes: start-up
#include "meshtensor/inspect/profile.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct batch : mt::dim<"batch", 8> {} batch;
inline constexpr struct width : mt::dim<"width", 16> {} width;
inline constexpr struct inner : mt::dim<"inner", 32> {} inner;

struct perceptron {
  constexpr void operator()(mt::scope auto s) const {
    auto x = mt::nn::linear(s / "input", s.input("x", mt::f32, batch, width), width, inner);
    auto const block = [](mt::scope auto r, auto h) {
      auto low = mt::gelu(mt::nn::linear(r / "mlp" / "narrow", h, inner, width));
      return h + mt::nn::linear(r / "mlp" / "wide", low, width, inner);
    };
    x = mt::gelu(block(s / "block_1", block(s / "block_0", x)));
    auto const loss = mean(x * x);
    mt::adam{}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct forward_only {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", mt::gelu(mt::nn::linear(s / "mlp", s.input("x", mt::f32, batch, width), width, inner)));
  }
};
/// Names as long as they may be, deep inside each other.
struct long_names {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, width);
    auto const deep = s / "a_scope_of_thirty_letters_begins" / "another_scope_as_long_as_allowed" /
                      "and_one_more_for_good_measure_ok" / "inner";
    auto const y = mt::nn::linear(deep, x, width, inner);
    s.output("y", mt::softmax(y, inner) + mt::gelu(y));
  }
};

template <class Program>
using reference_step = mt::executable<Program, mt::mesh<>, mt::layout<>, mt::reference_device>;

std::vector<std::string> lines_of(std::string const& text) {
  std::istringstream in(text);
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}
bool has(std::string const& text, std::string const& part) { return text.find(part) != text.npos; }

template <class Program>
struct recorded_step {
  mt::job job = mt::job::in_lockstep();
  mt::store weights{job};
  reference_step<Program> step{weights};
  explicit recorded_step(int steps = 3) {
    step.record();
    for (int i = 0; i < steps; ++i) step(mt::feed<"x">(std::vector<float>(8 * 16, 0.5f)));
  }
  std::string table(mt::rates best = {}) const {
    return mt::profile(step.graph(), step.planned().numbers, *step.recorded()[0], best);
  }
};

}  // namespace

TEST_CASE("names are the program's words, with the phase of the step") {
  recorded_step<perceptron> const run;
  std::string const table = run.table();
  MESSAGE(table);
  CHECK(has(table, " 2 x einsum of block_*/mlp/narrow, forward "));
  CHECK(has(table, " 2 x einsum of block_*/mlp/narrow, backward "));
  CHECK(has(table, "gelu, forward"));
  CHECK(has(table, "gelu, backward"));
  CHECK(has(table, "adam, optimizer"));
  CHECK(!has(table, "kernel"));
  CHECK(has(table, "profile.cpp:"));
}

TEST_CASE("a program without gradients has no phases") {
  std::string const table = recorded_step<forward_only>().table();
  CHECK(has(table, "einsum of mlp  "));
  CHECK(!has(table, "forward"));
}

TEST_CASE("no line is wider than 120 columns") {
  for (mt::rates const best : {mt::rates{}, mt::rates{1e15, 1e15, 1}}) {
    std::string const table = recorded_step<long_names>().table(best);
    for (std::string const& line : lines_of(table)) {
      CAPTURE(line);
      CHECK(mt::detail::characters_of(line) <= 120);
    }
    CHECK(has(table, " softmax "));
    CHECK(has(table, "einsum of …/"));  // the inner scopes are what tells lines apart
    CHECK(has(table, "/inner"));
  }
}

TEST_CASE("shares compare with what a step can reach") {
  recorded_step<perceptron> const run;
  SUBCASE("data that fit into a cache have no share of the memory's rate") {
    std::string const table = run.table({1e15, 1e3, 1e9});
    CHECK(has(table, "no share for other products"));
    for (std::string const& line : lines_of(table))
      if (has(line, "adam, ")) CHECK(std::ranges::count(line, '%') == 1);  // of the step
  }
  SUBCASE("a rate above the measured one is the reference, and the heading says so") {
    std::string const table = run.table({1, 1, 1});  // as a busy machine may measure
    CHECK(has(table, "flop/s in f32 products (in a step; a loop: 1 )"));
    CHECK(has(table, "B/s from and to memory (in a step; a loop: 1 )"));
    bool reached = false;
    for (std::string const& line : lines_of(table)) {
      reached = reached || has(line, " 100.0 %");
      for (std::size_t at = line.find(" %"); at != line.npos; at = line.find(" %", at + 1)) {
        std::size_t const begin = line.rfind(' ', at - 1) + 1;
        CHECK(std::stod(line.substr(begin, at - begin)) <= 100.05);
      }
    }
    CHECK(reached);
  }
  SUBCASE("without rates there is no such column") { CHECK(!has(run.table(), "of best")); }
}

TEST_CASE("steps that warm up are left out once others follow") {
  mt::timeline t(1, 1);
  auto const run = [&](std::int64_t begin, std::int64_t end) {
    t.begin_step(begin), t.enter(begin), t.leave(mt::node_id{}, end), t.end_step(end);
  };
  run(0, 1000);
  CHECK(t.steps() == 1);
  CHECK(t.is_warm_up());
  run(2000, 2010), run(3000, 3030);
  CHECK(t.steps() == 2);
  CHECK(t.step_time() == 40);
  CHECK(t.totals()[0].own == 40);
  CHECK(t.spans().size() == 2);
  CHECK(t.forgotten() == 1);
  CHECK(!t.is_warm_up());
}

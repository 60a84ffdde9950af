// SPDX-License-Identifier: Apache-2.0
// Steps in one call of programs with many outputs, and of programs with none.
// passes: start-up
#include "meshtensor/op/steps.hpp"

#include "meshtensor/op/each.hpp"

#include "unit/op/trial.hpp"

namespace mt = meshtensor;
using trial::numbers_of, trial::program;

namespace {

inline constexpr struct rounds_dim : mt::dim<"rounds", 3> {} rounds;
inline constexpr struct task_dim : mt::dim<"task", 2> {} task;
inline constexpr struct in_dim : mt::dim<"in", 2> {} in;

using numbers = std::vector<double>;
constexpr int many = 300;
std::string numbered(int i) { return "o" + std::to_string(i); }

struct many_outputs {
  void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, in);
    for (int i = 0; i < many; ++i) {
      mt::named_here label("some");
      label.label = mt::name::of(numbered(i));
      s.output(label, x * i);
    }
  }
};
template <bool Stacked>
struct many_in_steps {
  void operator()(mt::scope auto s) const {
    if constexpr (Stacked) mt::steps(s, rounds, many_outputs{}, mt::every_step);
    else mt::steps(s, rounds, many_outputs{});
  }
};

/// A program that has no output, but is watched.
struct only_watched {
  constexpr void operator()(mt::scope auto s) const { s.watch("twice", s.parameter("w", in) * 2); }
};
struct watched_in_map {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, in);
    s.output("dw", mt::map(s / "tasks", task, x, [](mt::scope auto m, auto x1) {
               auto const w = m.parameter("w", in);
               mt::steps(m, rounds, only_watched{});
               return gradient(sum(x1 * w * w), w);
             }));
  }
};

}  // namespace

TEST_CASE("steps gives all outputs of a program with many") {
  numbers const x{1, -1, 2, 3, 0.5, 4};
  program last = program::of<many_in_steps<false>>(), every = program::of<many_in_steps<true>>();
  last.fill("x", x), every.fill("x", x);
  mt::blocks const of_last = last.run(), of_every = every.run();
  REQUIRE(of_last.size() == many);
  REQUIRE(of_every.size() == many);
  for (int i = 0; i < many; ++i) {
    numbers all = x;
    for (double& v : all) v *= i;
    CHECK(numbers_of(of_every.at(numbered(i))) == all);
    CHECK(numbers_of(of_last.at(numbered(i))) == numbers(all.end() - 2, all.end()));
  }
}

TEST_CASE("steps of a program without outputs stand in a map beside a gradient by what they read") {
  program p = program::of<watched_in_map>();
  p.fill("x", {1, 2, 3, 4});
  p.run();
  p.variables.at("tasks/w").set(0, 0.5), p.variables.at("tasks/w").set(1, -1);
  mt::blocks const given = p.run();
  CHECK(numbers_of(given.at("dw")) == numbers{1, -4, 3, -8});
  CHECK(numbers_of(given.at("tasks/twice")) == numbers{1, -2, 1, -2, 1, -2});
}

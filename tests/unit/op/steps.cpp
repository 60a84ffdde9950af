// SPDX-License-Identifier: Apache-2.0
// Steps in one call of programs with many outputs, and of programs with none.
// passes: start-up
#include "meshtensor/op/steps.hpp"

#include "meshtensor/nn/sgd.hpp"
#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/each.hpp"
#include "meshtensor/op/full.hpp"

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

/// Numbers that count the steps of the program: in an output, beside a tensor, in an optimizer and in a branch.
struct counting {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), in);
    auto const w = s.parameter("w", in, mt::ones), v = s.parameter("v", in, mt::ones);
    auto const rate = mt::nn::warmup_linear(s, 0.5, 2, 8);
    mt::sgd{.learning_rate = 1 / (s.step() + 2)}.minimize(s / "optimizer", sum(w * x, in), s / "w");
    s.update(v, v - x * rate);
    s.output("step", s.step()), s.output("rate", rate * x), s.output("whole", mt::full(s, s.step() * 2, mt::i32));
    s.output("branch", mt::cond(
                           s / "branch", sum(x, in) > 0, [&](mt::scope auto b) { return mt::full(b, rate, b.real()); },
                           [&](mt::scope auto b) { return mt::full(b, -s.step(), b.real()); }));
  }
};
struct counting_in_steps {
  constexpr void operator()(mt::scope auto s) const { mt::steps(s, rounds, counting{}, mt::every_step); }
};
struct counting_in_pairs {
  constexpr void operator()(mt::scope auto s) const { mt::steps(s, task, counting_in_steps{}, mt::every_step); }
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

TEST_CASE("numbers in steps count every step of a call") {
  program one_by_one = program::of<mt::precision<counting, mt::f64>>();
  program all_in_one = program::of<mt::precision<counting_in_steps, mt::f64>>();
  program pairs = program::of<mt::precision<counting_in_pairs, mt::f64>>();
  numbers const x{1, -2, 0.5, 3, 2, 1, -1, -3, 1.5, 1, -2, 0.25};
  std::map<std::string, numbers> wanted, got;
  auto const add = [](std::map<std::string, numbers>& all, mt::blocks const& outputs) {
    for (auto const& [label, b] : outputs)
      for (double const n : numbers_of(b)) all[label].push_back(n);
  };
  for (std::size_t t = 0; t < 6; ++t) one_by_one.fill("x", {x[2 * t], x[2 * t + 1]}), add(wanted, one_by_one.run());
  for (std::size_t call = 0; call < 2; ++call) {
    all_in_one.fill("x", numbers(x.begin() + static_cast<long>(6 * call), x.begin() + static_cast<long>(6 * call + 6)));
    add(got, all_in_one.run());
  }
  CHECK(wanted.at("step") == numbers{0, 1, 2, 3, 4, 5});
  pairs.fill("x", x);
  std::map<std::string, numbers> of_pairs;
  add(of_pairs, pairs.run());
  for (auto const& [label, all] : wanted) {
    CHECK(got.at(label) == all);
    CHECK(of_pairs.at(label) == all);
  }
  for (char const* label : {"w", "v"}) {
    CHECK(numbers_of(all_in_one.variables.at(label)) == numbers_of(one_by_one.variables.at(label)));
    CHECK(numbers_of(pairs.variables.at(label)) == numbers_of(one_by_one.variables.at(label)));
  }
}

TEST_CASE("steps gives all outputs of a program with all_in_one") {
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

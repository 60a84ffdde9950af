// SPDX-License-Identifier: Apache-2.0
// `check_numerics` in an each and a map: it names the index that computes a value that is not finite, with the user's
// line, and leaves out indices that do not run a loop or branch.
// passes: start-up
// needs: cpu
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "meshtensor/device/default.hpp"
#include "support/folder.hpp"
#include "support/programs_of_indices.hpp"

using namespace of_indices;

namespace {

constexpr int line_of_log = __LINE__ + 9;
/// Each example of each task shrinks by its own number of iterations.
struct shrinking {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, task, example);
    auto y = mt::each(s / "tasks", task, x, [](mt::scope auto m, auto own) {
      return mt::map(m / "examples", example, own, [&](mt::scope auto e, auto one) {
        auto [n, h] = mt::while_loop(
            e / "shrink", mt::at_most(6), [](auto, auto v) { return v > 1; },
            [&](auto, auto v) { return log(v - 3) * 2 + 3; }, one);
        return h;
      });
    });
    s.output("y", y);
  }
};

constexpr int line_of_root = __LINE__ + 7;
/// A root in a branch that some examples take, and its gradient, which is infinite at 0.
struct rooted {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, task, example);
    auto y = mt::map(s / "tasks", task, x, [](mt::scope auto m, auto own) {
      return mt::map(m / "examples", example, own, [&](mt::scope auto e, auto one) {
        auto h = mt::cond(e / "way", one < 1, [&](auto) { return sqrt(one); }, [&](auto) { return one; });
        return gradient(h, one);
      });
    });
    s.output("y", y);
  }
};

constexpr int line_of_inner = __LINE__ + 13;
/// A loop that runs equally often for all indices, in a branch that some take, in a loop that some run.
struct deep {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, task, example);
    auto y = mt::map(s / "tasks", task, x, [](mt::scope auto m, auto own) {
      return mt::map(m / "examples", example, own, [&](mt::scope auto e, auto one) {
        auto [n, h] = mt::while_loop(
            e / "grow", mt::at_most(6), [](auto, auto v) { return v < 10; },
            [&](mt::scope auto r, auto v) {
              return mt::cond(
                  r / "way", v < 4,
                  [&](mt::scope auto b) {
                    return mt::repeat(b / "turns", rounds, v, [](auto, auto u) { return exp(u); });
                  },
                  [&](mt::scope auto) { return v * 2; });
            },
            one);
        return h;
      });
    });
    s.output("y", y);
  }
};

/// The sentence of the error, or nothing.
template <class Program, class Layout, class Device>
std::string said(std::vector<float> const& x, int size) {
  auto const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<Program, mesh, Layout, Device> step(weights, ranks(size));
  step.check_numerics();
  return meshtensor_test::sentence([&] { step(mt::feed<"x">(x)); });
}
template <class Program>
void check_sentence(std::vector<float> const& x, std::vector<std::string> const& parts) {
  auto const check = [&](std::string const& text) {
    INFO(text);
    for (std::string const& part : parts) {
      INFO("without: " << part);
      CHECK(text.find(part) != std::string::npos);
    }
    CHECK(text.empty() == parts.empty());
  };
  for (int const size : {1, 2}) {
    check(said<Program, by_task, mt::reference_device>(x, size));
    check(said<Program, by_example, mt::reference_device>(x, size));
    check(said<Program, by_task, mt::default_device>(x, size));
    check(said<Program, by_example, mt::default_device>(x, size));
  }
}
std::string at(int line) { return "(numerics_in_each.cpp:" + std::to_string(line) + ")"; }

}  // namespace

TEST_CASE("the index that runs a loop") {
  std::vector<float> x(12, 0.5f);
  check_sentence<shrinking>(x, {});
  x[10] = 2;  // of task 1, example 4
  check_sentence<shrinking>(x, {"R32: log in tasks/examples/shrink " + at(line_of_log), ": 1 of ",
                                " the first is nan, at task=1, example=4", "iteration 0"});
  x[3] = 5.5f, x[10] = 0.5f;  // some iterations later
  check_sentence<shrinking>(x, {"R32: log in tasks/examples/shrink " + at(line_of_log), ": 1 of ",
                                " the first is nan, at task=0, example=3", "iteration 4"});
}

TEST_CASE("gradients of the index that takes a branch") {
  std::vector<float> x(12, 2.0f);
  x[4] = 0.25f;
  check_sentence<rooted>(x, {});
  x[10] = 0;
  check_sentence<rooted>(x, {at(line_of_root), ": 1 of ", "at task=1, example=4"});
  x[4] = 2;
  check_sentence<rooted>(x, {at(line_of_root), ": 1 of ", "at task=1, example=4"});
}

TEST_CASE("a loop in a branch in a loop") {
  std::vector<float> x(12, 20.0f);
  x[2] = 7;
  check_sentence<deep>(x, {});
  x[8] = 1.6f;
  check_sentence<deep>(x, {"R32: exp in tasks/examples/grow/way/turns " + at(line_of_inner), ": 1 of ",
                           " the first is inf, at task=1, example=2"});
}

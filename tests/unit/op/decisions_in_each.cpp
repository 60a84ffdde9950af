// SPDX-License-Identifier: Apache-2.0
// Loops and branches in an each whose conditions differ by index: values, gradients, and what is not computed.
// passes: start-up
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/each.hpp"
#include "meshtensor/op/full.hpp"
#include "meshtensor/op/while_loop.hpp"

#include "unit/op/trial.hpp"

namespace mt = meshtensor;
using mt::to, trial::numbers_of, trial::program;

namespace {

inline constexpr struct example_dim : mt::dim<"example", 5> {} example;
inline constexpr struct part_dim : mt::dim<"part", 2> {} part;

using numbers = std::vector<double>;
template <class Program>
struct in_f64 : mt::precision<Program, mt::f64> {};
void check(numbers const& got, numbers const& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(wanted[i]).epsilon(1e-12));
}

/// A logarithm again and again, as long as the number is above 1. One time more would give NaN, and an infinite
/// derivative at 0.
struct logarithms {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), example);
    auto const a = s.input("a", s.real());
    auto const [count, y] = mt::map(s / "examples", example, x, [&](mt::scope auto m, auto x1) {
      return mt::while_loop(
          m / "fall", mt::at_most(9), [](auto, auto h) { return h > 1; }, [&](auto, auto h) { return log(h * a); }, x1);
    });
    s.output("count", count), s.output("y", y);
    auto const [dx, da] = gradient(sum(y * y), x, a);
    s.output("dx", dx), s.output("da", da);
  }
};

}  // namespace

TEST_CASE("each index runs its own number of iterations, and no value is computed beyond") {
  program p = program::of<in_f64<logarithms>>();
  numbers const x{0.5, 3, 1e5, 2.5, 40};
  double const a = 1.25;
  p.fill("x", x), p.fill("a", {a});
  mt::blocks const given = p.run();
  numbers counts, ys, dx;
  double da = 0;
  for (double h : x) {
    double by_x = 1, by_a = 0;
    int n = 0;
    for (; h > 1; ++n) by_x /= h, by_a = by_a / h + 1 / a, h = std::log(h * a);
    counts.push_back(n), ys.push_back(h), dx.push_back(2 * h * by_x), da += 2 * h * by_a;
  }
  check(numbers_of(given.at("count")), counts), check(numbers_of(given.at("y")), ys);
  check(numbers_of(given.at("dx")), dx), check(numbers_of(given.at("da")), {da});
}

namespace {
/// Branches that are defined on their side only, in two eaches of which one decides.
struct sides {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), example, part);
    auto const w = s.input("w", s.real());
    auto const y = mt::map(s / "examples", example, x, [&](mt::scope auto m, auto x1) {
      return mt::map(m / "parts", part, x1, [&](mt::scope auto n, auto x2) {
        return mt::cond(n / "side", x2 > 0, [&](auto) { return sqrt(x2) * w; }, [&](auto) { return 1 / (x2 - w); });
      });
    });
    s.output("y", y);
    auto const [dx, dw] = gradient(sum(y), x, w);
    s.output("dx", dx), s.output("dw", dw);
  }
};
/// Each example counts in a state of its own how often a branch ran, and chooses one of two steps of learning.
struct states {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), example);
    auto const y = mt::each(s / "examples", example, x, [&](mt::scope auto m, auto x1) {
      auto const w = m.parameter("w", mt::constant(1.0));
      auto const count = m.state("count", m.real());
      return mt::cond(
          m / "side", x1 > 0,
          [&](mt::scope auto b) {
            b.update(count, count + 1);
            mt::sgd{.learning_rate = 0.5}.minimize(b / "optimizer", w * w * x1);
            return w * 2;
          },
          [&](mt::scope auto) { return w; });
    });
    s.output("y", y);
  }
};
}  // namespace

TEST_CASE("a branch is computed with the operands of indices that take it") {
  program p = program::of<in_f64<sides>>();
  numbers const x{4, -2, 0, 9, 0.25, 1, -1, -3, 16, 0};
  double const w = -1.5;
  p.fill("x", x), p.fill("w", {w});
  mt::blocks const given = p.run();
  numbers y, dx;
  double dw = 0;
  for (double v : x)
    if (v > 0) y.push_back(std::sqrt(v) * w), dx.push_back(0.5 / std::sqrt(v) * w), dw += std::sqrt(v);
    else y.push_back(1 / (v - w)), dx.push_back(-1 / (v - w) / (v - w)), dw += 1 / (v - w) / (v - w);
  check(numbers_of(given.at("y")), y), check(numbers_of(given.at("dx")), dx), check(numbers_of(given.at("dw")), {dw});
}

TEST_CASE("a branch updates the variables of the indices that take it") {
  program p = program::of<in_f64<states>>();
  p.fill("x", {0.5, -1, 0.25, 0, 1});
  check(numbers_of(p.run().at("y")), {2, 1, 2, 1, 2});
  check(numbers_of(p.variables.at("examples/w")), {0.5, 1, 0.75, 1, 0});
  check(numbers_of(p.variables.at("examples/count")), {1, 0, 1, 0, 1});
  p.run();
  check(numbers_of(p.variables.at("examples/count")), {2, 0, 2, 0, 2});
}

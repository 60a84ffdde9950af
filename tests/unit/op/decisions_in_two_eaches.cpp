// SPDX-License-Identifier: Apache-2.0
// Loops and branches in one each within another, whose conditions differ by both indices or by one of them: what an
// index that takes no part sees, draws and watches.
// passes: start-up
#include <algorithm>

#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/each.hpp"
#include "meshtensor/op/full.hpp"
#include "meshtensor/op/random.hpp"
#include "meshtensor/op/while_loop.hpp"

#include "unit/op/trial.hpp"

namespace mt = meshtensor;
using mt::to, trial::numbers_of, trial::program;

namespace {

inline constexpr struct task_dim : mt::dim<"task", 3> {} task;
inline constexpr struct other_dim : mt::dim<"other", 4> {} other;

using numbers = std::vector<double>;
template <class Program>
struct in_f64 : mt::precision<Program, mt::f64> {};
void check(numbers const& got, numbers const& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(wanted[i]).epsilon(1e-12));
}

/// A body for pairs of a task and another index, which sees the element of `x` of its pair.
constexpr auto for_pairs(mt::scope auto s, auto x, auto body) {
  return mt::map(s / "tasks", task, x, [&](mt::scope auto m, auto mine) {
    return mt::map(m / "others", other, mine, [&](mt::scope auto n, auto one) { return body(m, n, one); });
  });
}
constexpr auto number_of(mt::scope auto m, auto dim) { return mt::cast<mt::f64>(mt::index(m, dim)); }

/// Divides by the number of the task, in a branch that the first task never takes.
struct outer_index {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, other);
    auto const w = s.input("w", s.real());
    auto const y = for_pairs(s, x, [&](mt::scope auto m, mt::scope auto n, auto one) {
      return mt::cond(
          n / "side", one * number_of(m, task) > 0, [&](auto) { return w / number_of(m, task); },
          [&](auto) { return w * 0; });
    });
    s.output("y", y), s.output("dw", gradient(sum(y), w));
  }
};

}  // namespace

TEST_CASE("a pair of indices that takes no part has no index of the outer each of its own") {
  program p = program::of<in_f64<outer_index>>();
  p.fill("x", {1, 1, 1, 1, -1, 1, 1, -1, 1, -1, 1, 1}), p.fill("w", {1.5});
  mt::blocks const given = p.run();
  check(numbers_of(given.at("y")), {0, 0, 0, 0, 0, 1.5, 1.5, 0, 0.75, 0, 0.75, 0.75});
  check(numbers_of(given.at("dw")), {2 + 3 * 0.5});
}

namespace {
/// In a branch, a loop whose condition only one of the indices decides draws numbers that must be above 0.5. `ByOuter`
/// says which index decides the loop, and `ByBoth` whether both indices choose the branch or only the outer one.
template <bool ByOuter, bool ByBoth>
struct draws {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, other);
    auto const w = s.input("w", s.real());
    auto const y = mt::map(s / "tasks", task, x, [&](mt::scope auto m, auto mine) {
      auto const body = [&](mt::scope auto n, auto some) {
        return mt::map(n / "others", other, some, [&](mt::scope auto o, auto one) {
          auto const drawn = [&](mt::scope auto b) {
            auto const [count, k, h] = mt::while_loop(
                b / "loop", mt::at_most(2),
                [&](auto, auto k1, auto) {
                  if constexpr (ByOuter) return k1 < number_of(m, task) + 1;
                  else return k1 < number_of(o, other) - (ByBoth ? 0 : 2);
                },
                [&](mt::scope auto r, auto k1, auto h1) {
                  return std::tuple(k1 + 1, h1 + w * sqrt(mt::uniform(r / "u", r.real(), to()) - 0.5));
                },
                full(b, 0, b.real()), w * 0);
            return h;
          };
          if constexpr (ByBoth) return mt::cond(o / "side", one > 0, drawn, [&](auto) { return w * 0; });
          else return drawn(o);
        });
      };
      if constexpr (ByBoth) return body(m, mine);
      else
        return mt::cond(
            m / "side", sum(mine) > 0, [&](mt::scope auto b) { return body(b, mine); },
            [&](auto) { return mine * w * 0; });
    });
    s.output("y", y), s.output("dw", gradient(sum(y), w));
  }
};
/// Runs all pairs, and then only those whose numbers have roots: the others must not spoil the gradient.
template <bool ByOuter, bool ByBoth>
void check_draws() {
  double const w = 1.5;
  program p = program::of<in_f64<draws<ByOuter, ByBoth>>>();
  p.fill("w", {w});
  int tried = 0;
  for (std::uint64_t step = 0; step < 6; ++step) {
    p.settings.step = step;
    p.fill("x", numbers(12, 1.0));
    numbers const drawn = numbers_of(p.run().at("y"));
    numbers runs(12, 1.0), wanted(12, 0.0);
    double dw = 0;
    for (std::size_t i = 0; i < 12; ++i) {
      for (std::size_t k = 0; k < 12; ++k)
        if (std::isnan(drawn[k]) && (ByBoth ? k == i : k / 4 == i / 4)) runs[i] = -1;
      if (runs[i] > 0) wanted[i] = drawn[i], dw += drawn[i] / w;
    }
    auto const skipped = std::count(runs.begin(), runs.end(), -1.0);
    tried += 0 < skipped && skipped < 12;
    p.fill("x", runs);
    p.settings.step = step;
    mt::blocks const given = p.run();
    check(numbers_of(given.at("y")), wanted), check(numbers_of(given.at("dw")), {dw});
  }
  CHECK(tried > 0);
}
}  // namespace

TEST_CASE("a pair that takes no part draws no numbers in a loop that the outer index decides") {
  check_draws<true, true>();
}
TEST_CASE("a pair that takes no part draws no numbers in a loop that the inner index decides") {
  check_draws<false, true>();
}
TEST_CASE("an outer index that takes no part draws no numbers in a loop that the inner index decides") {
  check_draws<false, false>();
}

namespace {
/// In a loop that both indices decide, the number of the task is watched, and so are the carries of an inner loop that
/// the task decides alone.
struct watched {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, other);
    auto const y = for_pairs(s, x, [&](mt::scope auto m, mt::scope auto n, auto one) {
      auto const [count, last] = mt::while_loop(
          n / "loop", mt::at_most(2), [](auto, auto h) { return h > 0; },
          [&](mt::scope auto r, auto h) {
            r.watch("number", number_of(m, task) + 1);
            auto const [inner_count, k, g] = mt::while_loop(
                r / "inner", mt::at_most(2), [&](auto, auto k1, auto) { return k1 < number_of(m, task); },
                [](mt::scope auto q, auto k1, auto g1) {
                  q.watch("g", g1), q.watch("k", k1 + 1);
                  return std::tuple(k1 + 1, g1 * 2);
                },
                full(r, 0, r.real()), h);
            return 3 - g;
          },
          one);
      return last;
    });
    s.output("y", y);
  }
};
}  // namespace

TEST_CASE("a watched tensor is zero for pairs that take no part, also if it differs by one of the indices") {
  program p = program::of<in_f64<watched>>();
  numbers const x{1, -1, 2, 4, 0.5, -2, 1, 8, -0.25, 0.25, 0.5, 2};
  p.fill("x", x);
  mt::blocks const given = p.run();
  numbers y(12), number(24), g(48), k(48);
  for (std::size_t pair = 0; pair < 12; ++pair) {
    double h = x[pair];
    for (std::size_t t = 0; t < 2 && h > 0; ++t) {
      number[t * 12 + pair] = static_cast<double>(pair / 4) + 1;
      for (std::size_t q = 0; q < pair / 4; ++q, h *= 2)
        g[(t * 2 + q) * 12 + pair] = h, k[(t * 2 + q) * 12 + pair] = static_cast<double>(q) + 1;
      h = 3 - h;
    }
    y[pair] = h;
  }
  check(numbers_of(given.at("y")), y);
  check(numbers_of(given.at("tasks/others/loop/number")), number);
  check(numbers_of(given.at("tasks/others/loop/inner/g")), g);
  check(numbers_of(given.at("tasks/others/loop/inner/k")), k);
}

namespace {
/// Each pair watches numbers of all indices of the inner each, which its task has.
struct shown {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, other);
    auto const y = for_pairs(s, x, [&](mt::scope auto, mt::scope auto n, auto one) {
      auto const [count, last] = mt::while_loop(
          n / "loop", mt::at_most(1), [](auto, auto h) { return h > 0; },
          [&](mt::scope auto r, auto h) {
            auto const all = mt::iota(r, task, mt::i64) * 10 + mt::iota(r, other, mt::i64) + 1;  // [task, other]
            r.watch("row", mt::own(all, task));
            return h + 1;
          },
          one);
      return last;
    });
    s.output("y", y);
  }
};
}  // namespace

TEST_CASE("a watched tensor of one index is zero if no pair with this index takes part") {
  program p = program::of<in_f64<shown>>();
  numbers const x{1, -1, 2, 4, -5, -2, -1, -8, -0.25, 0.25, 0.5, 2};
  p.fill("x", x);
  mt::blocks const given = p.run();
  numbers y = x;
  for (double& v : y) v += v > 0 ? 1 : 0;
  check(numbers_of(given.at("y")), y);
  check(numbers_of(given.at("tasks/others/loop/row")), {1, 2, 3, 4, 0, 0, 0, 0, 21, 22, 23, 24});
}

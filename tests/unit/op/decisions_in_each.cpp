// SPDX-License-Identifier: Apache-2.0
// Loops and branches in an each whose conditions differ by index: values, gradients, and what is not computed.
// passes: start-up
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

namespace {
/// Indices that run a branch or a loop divide by their own numbers there, and draw numbers that must be above 0.5.
struct own_numbers {
  constexpr void operator()(mt::scope auto s) const {
    auto const runs = s.input("runs", s.real(), example);
    auto const w = s.input("w", s.real());
    auto const root = [&](auto const& r) { return w * sqrt(mt::uniform(r / "u", r.real(), to()) - 0.5); };
    auto const y = mt::map(s / "examples", example, runs, [&](mt::scope auto m, auto on) {
      auto const number = mt::cast<mt::f64>(mt::index(m, example));
      auto const divided = mt::cond(
          m / "divided", number > 0, [&](mt::scope auto b) { return w / mt::cast<mt::f64>(mt::index(b, example)); },
          [&](auto) { return w; });
      auto const drawn =
          mt::cond(m / "drawn", on > 0, [&](mt::scope auto b) { return root(b); }, [&](auto) { return w * 0; });
      auto const in_scan = mt::cond(
          m / "in scan", on > 0,
          [&](mt::scope auto b) {
            auto const parts = full(b, 1, b.real(), to(part));
            auto const [last, all] = mt::scan(b / "scan", part, w * 0, parts, [&](mt::scope auto r, auto h, auto one) {
              return std::tuple(h + root(r) * one, h);
            });
            return last;
          },
          [&](auto) { return w * 0; });
      auto const in_loop = mt::cond(
          m / "in loop", on > 0,
          [&](mt::scope auto b) {
            auto const [count, k, h] = mt::while_loop(
                b / "loop", mt::at_most(2), [&](auto, auto k1, auto) { return k1 < number + 1; },
                [&](mt::scope auto r, auto k1, auto h1) { return std::tuple(k1 + 1, h1 + root(r)); }, w * 0, w * 0);
            return h;
          },
          [&](auto) { return w * 0; });
      return std::tuple(divided, drawn, in_scan, in_loop);
    });
    auto const [divided, drawn, in_scan, in_loop] = y;
    s.output("divided", divided), s.output("drawn", drawn), s.output("in scan", in_scan), s.output("in loop", in_loop);
    s.output("by divided", gradient(sum(divided), w)), s.output("by drawn", gradient(sum(drawn), w));
    s.output("by in scan", gradient(sum(in_scan), w)), s.output("by in loop", gradient(sum(in_loop), w));
  }
};
}  // namespace

TEST_CASE("an index that takes no part has no number of its own and draws none") {
  program p = program::of<in_f64<own_numbers>>();
  double const w = 1.5;
  p.fill("w", {w});
  p.fill("runs", numbers(5, 1.0));
  mt::blocks const all = p.run();
  check(numbers_of(all.at("divided")), {w, w, w / 2, w / 3, w / 4});
  check(numbers_of(all.at("by divided")), {1 + 1 + 1 / 2.0 + 1 / 3.0 + 1 / 4.0});
  for (char const* which : {"drawn", "in scan", "in loop"}) {
    INFO(std::string(which));
    numbers const drawn = numbers_of(all.at(which));
    numbers runs;
    int skipped = 0;
    for (double const v : drawn) runs.push_back(std::isnan(v) ? 0 : 1), skipped += std::isnan(v);
    REQUIRE(skipped > 0);
    REQUIRE(skipped < 5);
    p.fill("runs", runs);
    p.settings.step = 0;
    mt::blocks const given = p.run();
    numbers wanted;
    double by_w = 0;
    for (double const v : drawn) wanted.push_back(std::isnan(v) ? 0 : v), by_w += wanted.back() / w;
    check(numbers_of(given.at(which)), wanted);
    check(numbers_of(given.at(std::string("by ") + which)), {by_w});
  }
}

namespace {
/// The carries of a loop, also of one in another loop, are watched.
struct watched {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), example);
    auto const y = mt::map(s / "examples", example, x, [&](mt::scope auto m, auto x1) {
      auto const [count, last] = mt::while_loop(
          m / "fall", mt::at_most(3), [](auto, auto h) { return h > 1; },
          [&](mt::scope auto r, auto h) {
            r.watch("h", h), r.watch_gradient("dh", h);
            auto const [end, all] =
                mt::scan(r / "parts", part, h, full(r, 1, r.real(), to(part)), [&](mt::scope auto q, auto g, auto one) {
                  q.watch("g", g);
                  return std::tuple(g - one, g);
                });
            return end;
          },
          x1);
      return last;
    });
    s.output("y", y);
    s.output("dx", gradient(sum(y * y), x));
  }
};
}  // namespace

TEST_CASE("a watched tensor is zero for the indices that take no part") {
  program p = program::of<in_f64<watched>>();
  numbers const x{0.5, 3.5, 1.25, 9, 5};
  p.fill("x", x);
  mt::blocks const given = p.run();
  numbers h(15), g(30), dh(15);
  for (std::size_t e = 0; e < 5; ++e) {
    double v = x[e];
    std::size_t ran = 0;
    for (; ran < 3 && v > 1; ++ran, v -= 2) h[ran * 5 + e] = v, g[ran * 10 + e] = v, g[ran * 10 + 5 + e] = v - 1;
    for (std::size_t t = 0; t < ran; ++t) dh[t * 5 + e] = 2 * v;
  }
  check(numbers_of(given.at("examples/fall/h")), h);
  check(numbers_of(given.at("examples/fall/parts/g")), g);
  check(numbers_of(given.at("examples/fall/dh")), dh);
}

namespace {
/// Each example goes along its own parts until its sum is above 2, and writes the rest as its own number.
template <bool Stops>
struct stopping {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), example, part);
    auto const a = s.input("a", s.real());
    auto const [last, ys] = mt::each(s / "examples", example, x, [&](mt::scope auto m, auto x1) {
      auto const total = m.state("total", m.real());
      auto const seen = m.state("seen", m.real(), part);
      auto const rest = mt::cast<mt::f64>(mt::index(m, example)) * a;
      auto const ends = [](auto, auto h) { return h > 2; };
      auto const body = [&](mt::scope auto r, auto h, auto now, auto before) {
        auto const stops = [&] {
          if constexpr (Stops) return h * 0 > 1;
          else return ends(r, h);
        }();
        r.update(total, select(stops, total, total + h));
        r.update(before, select(stops, before, now * 2));
        auto const next = h + log(now) * a;
        if constexpr (Stops) return std::tuple(next, h * now);
        else return std::tuple(select(stops, h, h + log(select(stops, 1, now)) * a), select(stops, rest, h * now));
      };
      if constexpr (Stops) return mt::scan(m / "along", part, a, std::tuple(x1, seen), body, mt::until{ends, rest});
      else return mt::scan(m / "along", part, a, std::tuple(x1, seen), body);
    });
    s.output("last", last), s.output("ys", ys);
    auto const [dx, da] = gradient(sum(ys * ys) + sum(last * last), x, a);
    s.output("dx", dx), s.output("da", da);
  }
};
}  // namespace

TEST_CASE("each index stops its own scan, as a scan does that goes on and chooses") {
  program stops = program::of<in_f64<stopping<true>>>(), goes_on = program::of<in_f64<stopping<false>>>();
  for (double const a : {1.5, 2.5, 0.25}) {
    numbers const x{2, 3, 4, 1, 0.5, 0.5, 8, 8, 1.5, 6};
    for (program* p : {&stops, &goes_on}) p->fill("x", x), p->fill("a", {a});
    mt::blocks const one = stops.run(), other = goes_on.run();
    for (char const* which : {"last", "ys", "dx", "da"}) {
      INFO(std::string(which));
      check(numbers_of(one.at(which)), numbers_of(other.at(which)));
    }
    for (char const* path : {"examples/total", "examples/seen"})
      check(numbers_of(stops.variables.at(path)), numbers_of(goes_on.variables.at(path)));
  }
  // Behind the exit, this logarithm would be NaN, and so would be its gradient.
  stops.fill("x", {2, 3, 8, -1, 0.5, 0.5, 8, -8, 9, -6}), stops.fill("a", {1.5});
  for (double const v : numbers_of(stops.run().at("dx"))) CHECK(std::isfinite(v));
}

namespace {
/// A branch whose condition comes from weights that all indices share, and that leads to the loss.
struct common_condition {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), example, part);
    auto const w = s.input("w", s.real(), part);
    auto const [losses, dw] = mt::map(s / "examples", example, x, [&](mt::scope auto m, auto x1) {
      auto const e = sum(x1 * w);
      auto const loss = mt::cond(
          m / "side", sum(w * w) > 0.5, [&](mt::scope auto) { return e * e + mean(mt::across(e, example), example); },
          [&](mt::scope auto) { return e; });
      return std::tuple(loss, gradient(loss, w));
    });
    s.output("losses", losses), s.output("dw", dw);
  }
};
/// The same in a loop, which begins with the weights: no gradient flows back through `stop_gradient`.
struct common_loop {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), example, part);
    auto const w = s.input("w", s.real(), part);
    auto const [losses, dw, counts] = mt::map(s / "examples", example, x, [&](mt::scope auto m, auto x1) {
      auto const [count, size, total] = mt::while_loop(
          m / "halve", mt::at_most(9), [](auto, auto h, auto) { return h > 1; },
          [&](mt::scope auto, auto h, auto t) {
            return std::tuple(h * 0.5, t + mean(mt::across(sum(x1 * w), example), example));
          },
          stop_gradient(sum(w * w)), sum(w * x1));
      return std::tuple(total, gradient(total, w), count);
    });
    s.output("losses", losses), s.output("dw", dw), s.output("counts", counts);
  }
};
}  // namespace

TEST_CASE("a condition that is the same for all indices decides for all, also if the branch leads to a loss") {
  program p = program::of<in_f64<common_condition>>();
  numbers const x{0.5, 1, -1, 2, 0.25, 3, 1.5, -0.5, 2, 1};
  for (numbers const& w : {numbers{1, -0.5}, numbers{0.5, 0.25}}) {
    p.fill("x", x), p.fill("w", w);
    bool const takes = w[0] * w[0] + w[1] * w[1] > 0.5;
    numbers losses, dw;
    double average = 0;
    for (std::size_t i = 0; i < 5; ++i) average += (x[2 * i] * w[0] + x[2 * i + 1] * w[1]) / 5;
    for (std::size_t i = 0; i < 5; ++i) {
      double const e = x[2 * i] * w[0] + x[2 * i + 1] * w[1];
      losses.push_back(takes ? e * e + average : e);
      for (std::size_t k = 0; k < 2; ++k) dw.push_back(x[2 * i + k] * (takes ? 2 * e + 1 : 1));
    }
    mt::blocks const given = p.run();
    check(numbers_of(given.at("losses")), losses), check(numbers_of(given.at("dw")), dw);
  }
}

TEST_CASE("a condition behind stop_gradient is the same for all indices, and may stand around across") {
  program p = program::of<in_f64<common_loop>>();
  numbers const x{0.5, 1, -1, 2, 0.25, 3, 1.5, -0.5, 2, 1}, w{2, -1};
  p.fill("x", x), p.fill("w", w);
  numbers losses, dw;
  double average = 0;
  for (std::size_t i = 0; i < 5; ++i) average += (x[2 * i] * w[0] + x[2 * i + 1] * w[1]) / 5;
  for (std::size_t i = 0; i < 5; ++i) {  // 5, 2.5, 1.25: three iterations
    losses.push_back(x[2 * i] * w[0] + x[2 * i + 1] * w[1] + 3 * average);
    for (std::size_t k = 0; k < 2; ++k) dw.push_back(x[2 * i + k] * 4);
  }
  mt::blocks const given = p.run();
  check(numbers_of(given.at("counts")), numbers(5, 3.0));
  check(numbers_of(given.at("losses")), losses), check(numbers_of(given.at("dw")), dw);
}

namespace {
/// A branch with a loop that draws numbers: only what the loop gives has a logarithm, not what it begins with.
struct loop_before_a_logarithm {
  constexpr void operator()(mt::scope auto s) const {
    auto const runs = s.input("runs", s.real(), example);
    auto const w = s.input("w", s.real());
    auto const y = mt::map(s / "examples", example, runs, [&](mt::scope auto m, auto on) {
      auto const number = mt::cast<mt::f64>(mt::index(m, example));
      return mt::cond(
          m / "side", on > 0,
          [&](mt::scope auto b) {
            auto const [count, k, h] = mt::while_loop(
                b / "loop", mt::at_most(6), [&](auto, auto k1, auto) { return k1 < number + 1; },
                [](mt::scope auto r, auto k1, auto h1) {
                  return std::tuple(k1 + 1, h1 + 1 + 0 * mt::uniform(r / "u", r.real(), to()));
                },
                full(b, 0, b.real()), full(b, 0, b.real()));
            return w * log(h) / mt::cast<mt::f64>(count);
          },
          [&](auto) { return w * 0; });
    });
    s.output("y", y), s.output("dw", gradient(sum(y), w));
  }
};
}  // namespace

TEST_CASE("an index that does not run a branch goes on there with the results of loops of one that does") {
  program p = program::of<in_f64<loop_before_a_logarithm>>();
  p.fill("runs", {-1, 1, -1, 1, -1}), p.fill("w", {1.5});
  mt::blocks const given = p.run();
  check(numbers_of(given.at("y")), {0, 1.5 * std::log(2) / 2, 0, 1.5 * std::log(4) / 4, 0});
  check(numbers_of(given.at("dw")), {std::log(2) / 2 + std::log(4) / 4});
}

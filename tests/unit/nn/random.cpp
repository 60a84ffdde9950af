// SPDX-License-Identifier: Apache-2.0
// Random numbers: which ones they are depends on the seed, the path, the place in it, the step and the element, on
// nothing else.
#include "meshtensor/nn/dropout.hpp"
#include "meshtensor/op/control.hpp"

#include "unit/op/trial.hpp"

namespace {

namespace mt = meshtensor;
using mt::to;

inline constexpr struct many_dim : mt::dim<"many", 20000> {} many;
inline constexpr struct few_dim : mt::dim<"few", 50> {} few;
inline constexpr struct rounds_dim : mt::dim<"rounds", 3> {} rounds;

struct drawn {
  constexpr void operator()(mt::scope auto s) const {
    s.output("uniform", uniform(s / "a", mt::f64, to(many)));
    s.output("again", uniform(s / "a", mt::f64, to(many)));
    s.output("other", uniform(s / "b", mt::f64, to(many)));
    s.output("normal", normal(s / "a", mt::f32, to(many)));
    s.output("coin", bernoulli(s / "coin", s.number("rng", 0.25), to(many)));
  }
};

namespace other {
struct drawn {  // of the same name: one more draw elsewhere, and a part of the same
  constexpr void operator()(mt::scope auto s) const {
    s.output("elsewhere", uniform(s / "c", mt::f64, to(few)));
    s.output("uniform", uniform(s / "a", mt::f64, to(few)));
  }
};
}  // namespace other
struct drawn_elsewhere : drawn {};

struct in_a_loop {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, few);
    auto const [last, all] = scan(s / "loop", rounds, x, broadcast(x, to(rounds, few)), [](auto r, auto h, auto y) {
      auto const u = uniform(r / "draw", mt::f64, to(few));
      return std::tuple(h + y * 0, u);
    });
    s.output("all", all);
    s.output("last", last);
  }
};

struct dropped {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), many);
    auto const y = mt::nn::dropout(s / "drop", x, s.number("rate", 0.25));
    s.output("y", y);
    s.output("dx", gradient(sum(y), x));
  }
};

struct all_dropped {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), many);
    auto const y = mt::nn::dropout(s / "drop", x, 1);
    auto const dx = gradient(sum(y * y), x);
    s.output("y", y);
    s.output("dx", dx);
    s.output("ddx", gradient(sum(dx * x), x));
  }
};

double mean_of(mt::block const& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < b.size(); ++i) sum += b.number_at(i);
  return sum / static_cast<double>(b.size());
}
double mean_square_of(mt::block const& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < b.size(); ++i) sum += b.number_at(i) * b.number_at(i);
  return sum / static_cast<double>(b.size());
}

}  // namespace

TEST_CASE("moments") {
  trial::program p = trial::program::of<drawn>();
  mt::blocks const r = p.run();
  CHECK(std::abs(mean_of(r.at("uniform")) - 0.5) < 0.01);
  CHECK(std::abs(mean_square_of(r.at("uniform")) - 1.0 / 3) < 0.01);
  CHECK(std::abs(mean_of(r.at("normal"))) < 0.03);
  CHECK(std::abs(mean_square_of(r.at("normal")) - 1) < 0.04);
  CHECK(std::abs(mean_of(r.at("coin")) - 0.25) < 0.015);
  p.settings.named["rng"] = 0.75;
  CHECK(std::abs(mean_of(p.run().at("coin")) - 0.75) < 0.015);
}

TEST_CASE("numbers differ by place, path and step, and are the same again for the same") {
  trial::program p = trial::program::of<drawn>();
  mt::blocks const first = p.run(), second = p.run();
  auto const of = [](mt::blocks const& b, char const* name) { return trial::numbers_of(b.at(name)); };
  CHECK(of(first, "uniform") != of(first, "again"));
  CHECK(of(first, "uniform") != of(first, "other"));
  CHECK(of(first, "uniform") != of(second, "uniform"));
  p.settings.step = 0;
  CHECK(of(p.run(), "uniform") == of(first, "uniform"));
  p.settings.step = 0, p.settings.seed = 1;
  CHECK(of(p.run(), "uniform") != of(first, "uniform"));
}

TEST_CASE("what else a program draws, and how much of it, changes nothing") {
  trial::program p = trial::program::of<drawn>(), q = trial::program::of<other::drawn>();
  mt::blocks const r = p.run(), s = q.run();
  for (int i = 0; i < 50; ++i) CHECK(r.at("uniform").number_at(i) == s.at("uniform").number_at(i));
}

TEST_CASE("programs of other names draw other numbers") {
  trial::program p = trial::program::of<drawn>(), q = trial::program::of<drawn_elsewhere>();
  mt::blocks const r = p.run(), s = q.run();
  for (char const* label : {"uniform", "again", "other", "normal"})
    CHECK(trial::numbers_of(r.at(label)) != trial::numbers_of(s.at(label)));
}

TEST_CASE("every iteration draws anew") {
  trial::program p = trial::program::of<in_a_loop>();
  std::vector<double> const all = trial::numbers_of(p.run().at("all"));
  for (std::size_t i = 0; i < 50; ++i)
    CHECK((all[i] != all[50 + i] && all[50 + i] != all[100 + i] && all[i] != all[100 + i]));
}

TEST_CASE("dropout keeps the mean; its gradient drops the same elements") {
  trial::program p = trial::program::of<mt::precision<dropped, mt::dtype::f64>>();
  p.fill_at_random(1, 1);
  mt::blocks const r = p.run();
  CHECK(std::abs(mean_of(r.at("y")) - 1) < 0.02);
  int zeros = 0;
  for (std::int64_t i = 0; i < r.at("y").size(); ++i) {
    double const y = r.at("y").number_at(i);
    zeros += y == 0;
    CHECK((y == 0 || y == 1 / 0.75));
    CHECK(r.at("dx").number_at(i) == y);
  }
  CHECK(std::abs(zeros / 20000.0 - 0.25) < 0.015);

  trial::program f32 = trial::program::of<mt::precision<dropped, mt::dtype::f32>>();  // the same ones in another dtype
  f32.fill_at_random(1, 1);
  mt::blocks const s = f32.run();
  int differing = 0;
  for (std::int64_t i = 0; i < r.at("y").size(); ++i)
    differing += (r.at("y").number_at(i) == 0) != (s.at("y").number_at(i) == 0);
  CHECK(differing == 0);
}

TEST_CASE("a rate of one drops all, and no gradient is left") {
  auto const check = [](trial::program p) {
    p.fill_at_random(1, 2);
    for (auto const& [label, all] : p.run())
      for (std::int64_t i = 0; i < all.size(); ++i) CHECK(all.number_at(i) == 0);
  };
  check(trial::program::of<mt::precision<all_dropped, mt::dtype::f64>>());
  check(trial::program::of<mt::precision<all_dropped, mt::dtype::bf16>>());
  trial::program set = trial::program::of<dropped>();
  set.settings.named = {{"rate", 1}};
  check(std::move(set));
}

TEST_CASE("a rate of zero drops nothing") {
  trial::program p = trial::program::of<mt::precision<dropped, mt::dtype::f64>>();
  p.fill_at_random(-1, 1);
  p.settings.named["rate"] = 0;
  CHECK(trial::numbers_of(p.run().at("y")) == trial::numbers_of(p.inputs.at("x")));
}

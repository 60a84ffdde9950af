// SPDX-License-Identifier: Apache-2.0
// Random numbers: each is a function of the seed, the program, the path, the step, the iteration and its position.
#include "meshtensor/op/random.hpp"

#include "meshtensor/op/control.hpp"
#include "meshtensor/op/detail/initial.hpp"
#include "unit/op/values.hpp"

using namespace laws;
using mt::to;

namespace {
inline constexpr struct many_dim : mt::dim<"many", 4096> {} many;

struct drawn {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, a, b);
    auto const u = uniform(s / "noise", mt::f64, to(a, b));
    s.output("uniform", u);
    s.output("next", uniform(s / "noise", mt::f64, to(a, b)));
    s.output("normal", normal(s / "noise", mt::f64, to(a, b)));
    s.output("f32", uniform(s / "other", mt::f32, to(b)));
    s.output("dx", gradient(sum(x * u), x));
  }
};
struct drawn_often {
  constexpr void operator()(mt::scope auto s) const {
    s.output("uniform", uniform(s / "noise", mt::f32, to(many)));
    s.output("normal", normal(s / "noise", mt::f32, to(many)));
    s.output("coin", bernoulli(s / "coin", 0.25, to(many)));
    s.output("half", uniform(s / "half", mt::bf16, to(many)));
  }
};
struct drawn_in_a_loop {
  constexpr void operator()(mt::scope auto s) const {
    auto const start = s.input("x", mt::f64, a, b);
    auto const [last, all] = scan(s / "loop", row, start, iota(s, row, mt::f64), [](auto r, auto h, auto) {
      auto const u = uniform(r / "noise", mt::f64, to(a, b));
      return std::tuple(h + u, u);
    });
    s.output("last", last);
    s.output("all", all);
  }
};

/// The numbers that the `which`-th random node of a program draws, by a plain loop.
template <class Draw>
numbers by_a_loop(trial::program const& p, int which, std::uint64_t iteration, int count, Draw draw) {
  for (int i = 0; i < p.graph().node_count; ++i) {
    mt::node const& n = p.graph().nodes[i];
    if (n.kind != mt::primitive::random || which-- != 0) continue;
    mt::random_key const key{p.settings.seed, mt::identity_of(p.graph(), n), p.settings.step};
    mt::random_stream const stream(key, iteration);
    numbers all;
    for (int k = 0; k < count; ++k) all.push_back(static_cast<double>(draw(stream, static_cast<std::uint64_t>(k))));
    return all;
  }
  return {};
}
constexpr auto f64_uniform = [](auto const& stream, auto k) { return mt::random_uniform<double>(stream, k); };
constexpr auto f64_normal = [](auto const& stream, auto k) { return mt::random_normal<double>(stream, k); };
constexpr auto f32_uniform = [](auto const& stream, auto k) { return mt::random_uniform<float>(stream, k); };

double mean_of(numbers const& all, double power = 1) {
  double sum = 0;
  for (double const one : all) sum += std::pow(one, power);
  return sum / static_cast<double>(all.size());
}
}  // namespace

TEST_CASE("an element is drawn by its position in the whole tensor") {
  trial::program p = trial::program::of<drawn>();
  for (std::uint64_t const seed : {0, 7})
    for (std::uint64_t const step : {0, 1, 5}) {
      p.settings.seed = seed, p.settings.step = step;
      numbers const uniforms = by_a_loop(p, 0, 0, 6, f64_uniform), next = by_a_loop(p, 1, 0, 6, f64_uniform),
                    normals = by_a_loop(p, 2, 0, 6, f64_normal), floats = by_a_loop(p, 3, 0, 3, f32_uniform);
      mt::blocks const got = p.run();
      CHECK(trial::numbers_of(got.at("uniform")) == uniforms);
      CHECK(trial::numbers_of(got.at("next")) == next);
      CHECK(trial::numbers_of(got.at("normal")) == normals);
      CHECK(trial::numbers_of(got.at("f32")) == floats);
      CHECK(trial::numbers_of(got.at("dx")) == uniforms);  // random numbers are constants to a gradient
      CHECK(uniforms != next);
    }
}

TEST_CASE("other seeds and steps draw other numbers, the same ones the same") {
  trial::program p = trial::program::of<drawn>();
  auto const at = [&](std::uint64_t seed, std::uint64_t step) {
    p.settings.seed = seed, p.settings.step = step;
    return trial::numbers_of(p.run().at("uniform"));
  };
  CHECK(at(0, 0) == at(0, 0));
  CHECK(at(0, 0) != at(0, 1));
  CHECK(at(0, 0) != at(1, 0));
  CHECK(at(3, 2) == at(3, 2));
}

TEST_CASE("each iteration of a loop draws its own") {
  trial::program p = trial::program::of<drawn_in_a_loop>();
  numbers wanted;
  for (std::uint64_t i = 0; i < 3; ++i)
    for (double const one : by_a_loop(p, 0, i, 6, f64_uniform)) wanted.push_back(one);
  mt::blocks const got = p.run();
  CHECK(trial::numbers_of(got.at("all")) == wanted);
  for (std::int64_t k = 0; k < 6; ++k) {
    auto const i = static_cast<std::size_t>(k);
    CHECK(got.at("last").number_at(k) == doctest::Approx(wanted[i] + wanted[i + 6] + wanted[i + 12]));
  }
}

TEST_CASE("distributions") {
  trial::program p = trial::program::of<drawn_often>();
  mt::blocks const got = p.run();
  numbers const uniforms = trial::numbers_of(got.at("uniform")), normals = trial::numbers_of(got.at("normal")),
                halves = trial::numbers_of(got.at("half"));
  for (numbers const& all : {uniforms, halves}) {
    CHECK(*std::ranges::min_element(all) >= 0);
    CHECK(*std::ranges::max_element(all) < 1);
    CHECK(mean_of(all) == doctest::Approx(0.5).epsilon(0.04));
    CHECK(mean_of(all, 2) == doctest::Approx(1.0 / 3).epsilon(0.04));
  }
  CHECK(std::abs(mean_of(normals)) < 0.06);
  CHECK(mean_of(normals, 2) == doctest::Approx(1).epsilon(0.08));
  CHECK(std::abs(mean_of(normals, 3)) < 0.25);
  CHECK(mean_of(trial::numbers_of(got.at("coin"))) == doctest::Approx(0.25).epsilon(0.1));
}

TEST_CASE("initial values of bf16 are computed in f32 and rounded once") {
  std::vector<mt::bf16_t> all(4096);
  mt::view where{};
  where.type = mt::dtype::bf16, where.count = 1, where.extent[0] = where.total[0] = 4096;
  where.densify();
  where.data = all.data();
  mt::random_key const key{3, 4, 0};
  mt::random_stream const stream(key, 0);
  for (auto const kind : {mt::initializer_kind::uniform, mt::initializer_kind::normal}) {
    mt::fill(where, mt::initial_value{kind, 1.5, key});
    int wrong = 0;
    for (std::uint64_t k = 0; k < 4096; ++k) {
      float const drawn = kind == mt::initializer_kind::normal ? mt::random_normal<float>(stream, k)
                                                               : mt::random_uniform<float>(stream, k) * 2 - 1;
      wrong += float{all[k]} != float{mt::bf16_t(drawn * 1.5f)};
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("ranks draw their parts of the same numbers") {
  auto const beside = [](auto s, auto x, auto, auto...) { return x * uniform(s / "noise", mt::f64, to(b, a)); };
  hold_sharded("beside a tensor", beside, "a");
  hold_sharded("beside a tensor", beside, "b");
}

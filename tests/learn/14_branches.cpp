// SPDX-License-Identifier: Apache-2.0
// Lesson 14. You learn to write branches, and loops that end by a condition. `while_loop` repeats a body as long as a
// condition holds, a scan with `mt::until` stops when a condition holds, and `cond` runs one of two branches. All of
// them depend on values that exist only when the program runs.
// passes: start-up
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

namespace lesson {
inline constexpr struct systems : mt::dim<"systems", 10> {} systems;
inline constexpr struct pairs : mt::dim<"pairs", 2> {} pairs;

// This program computes the square roots of all elements of `a` by Newton's method. Then it scales the roots, but only
// if their sum is large.
struct program {
  constexpr void operator()(mt::scope auto s) const {
    auto a = s.input("a", mt::f32, systems, pairs);
    // A loop takes a scope, its limit, the condition, the body, and the first value of each carry. The condition is one
    // boolean for all elements, so that all ranks run the same number of iterations. `count` is this number.
    auto [count, root] = mt::while_loop(
        s / "newton", mt::at_most(30), [&](auto, auto x) { return max(abs(x * x - a)) > 1e-3; },
        [&](auto, auto x) { return (x + a / x) * 0.5; }, a);
    // A branch is a function of a scope, which returns the result. Only the chosen branch runs.
    // Both capture `root` under a name of its own, because clang 19 refuses names of a structured binding here.
    auto scaled =
        mt::cond(s / "scale", sum(root) > 50, [r = root](auto) { return r * 0.5; }, [r = root](auto) { return r; });
    // With `mt::until`, a scan stops as soon as a condition of its carry holds. The outputs behind the exit are 0.
    auto [total, sums] = mt::scan(
        s / "along", systems, full(s, 0, mt::f32), sum(a, pairs),
        [](auto, auto so_far, auto now) { return std::tuple(so_far + now, so_far + now); },
        mt::until{[](auto, auto so_far) { return so_far > 20; }, 0});
    s.output("sums", sums);
    s.output("count", count);
    s.output("scaled", scaled);
    // The gradient goes backwards through the branch that ran, and through the same number of iterations.
    s.output("slope", gradient(sum(scaled), a));
  }
};

inline constexpr struct first : mt::axis<"first"> {} first;
inline constexpr struct second : mt::axis<"second"> {} second;
struct mesh : mt::mesh<first, second> {};
struct by_systems : mt::layout<mt::shard<systems, first>> {};
struct by_both : mt::layout<mt::shard<systems, first>, mt::shard<pairs, second>> {};

using values = mt::array<float, systems, pairs>;

// The elements are factor, 2 · factor, … , 20 · factor.
values multiples_of(float factor) {
  values a;
  int n = 0;
  for (float& e : a) e = factor * static_cast<float>(++n);
  return a;
}

struct answer {
  std::int64_t count = 0;
  values scaled, slope;
  std::array<float, 10> sums{};
};
// The plain computation is a loop and a branch of C++.
answer computed_plainly(values const& a) {
  answer r;
  r.scaled = a;
  values& x = r.scaled;
  while (r.count < 30 && max(abs(x * x - a)) > 1e-3f) x = (x + a / x) * 0.5, ++r.count;
  // The derivative of √a is 1 / (2 √a).
  r.slope = 0.5 / x;
  if (sum(x) > 50) x = x * 0.5, r.slope = r.slope * 0.5;
  float so_far = 0;
  for (std::size_t i = 0; i < 10 && !(so_far > 20); ++i) {
    so_far += a.data()[2 * i] + a.data()[2 * i + 1];
    r.sums[i] = so_far;
  }
  return r;
}

template <class Layout>
void compare(values const& a, std::int64_t along_first, std::int64_t along_second) {
  auto job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<program, mesh, Layout> step(weights, first(along_first), second(along_second));
  auto const result = step(mt::feed<"a">(a));
  answer const expected = computed_plainly(a);
  // A maximum does not depend on the order of its operands. Therefore each layout needs the same number of iterations.
  CHECK(std::int64_t(result.template get<"count">()) == expected.count);
  CHECK(max(abs(result.template get<"scaled">().gather() - expected.scaled)) < 1e-5f);
  auto const sums = result.template get<"sums">().gather();
  CHECK(std::equal(sums.begin(), sums.end(), expected.sums.begin()));
  // The loop ends before it has found the root exactly, so its derivative is close to that of the root.
  CHECK(max(abs(result.template get<"slope">().gather() - expected.slope)) < 1e-3f);
}
}  // namespace lesson
using namespace lesson;

TEST_CASE("loop and branch are those of plain C++, under every layout on any number of ranks") {
  // The sum of the roots is 61.7 for the factor 1. For the factor 0.25 it is half of that, so the other branch runs.
  for (float const factor : {1.f, 0.25f}) {
    values const a = multiples_of(factor);
    for (int const ranks : {1, 2, 3, 4, 6, 8}) compare<by_systems>(a, ranks, 1);
    compare<by_both>(a, 2, 2);
    compare<by_both>(a, 3, 2);
    compare<by_both>(a, 4, 2);
  }
}

TEST_CASE("the data decide how often a loop runs and which branch is taken") {
  answer const large = computed_plainly(multiples_of(1)), small = computed_plainly(multiples_of(0.25f));
  CHECK(large.count > small.count);
  CHECK(small.count > 1);
  CHECK(sum(large.scaled) == doctest::Approx(sum(small.scaled)).epsilon(1e-3));  // one is halved, the other is not
}

TEST_CASE("an eager scope runs loops and branches, too") {
  mt::eager s(mt::feed<"a">(multiples_of(1)));
  CHECK(s.run(program{}).get<std::int64_t>("count").item() == computed_plainly(multiples_of(1)).count);
}

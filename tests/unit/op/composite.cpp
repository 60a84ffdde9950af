// SPDX-License-Identifier: Apache-2.0
// Composites that bring a gradient: which of their results' cotangents that takes, and what goes through the body.
#include "meshtensor/op/composite.hpp"

#include <doctest/doctest.h>

#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct in_dim : mt::dim<"in", 3> {} in;

/// (exp(x) + x, exp(x)), the second for the gradient, which takes as many cotangents as `Gradient` does.
template <class Gradient>
constexpr auto risen(auto const& x, Gradient const& own) {
  return composite_with_gradient("risen", [](auto h) { return std::tuple(exp(h) + h, exp(h)); }, own, x);
}
constexpr auto of_the_first = [](auto, auto, auto e, auto dy) { return dy * (e + 1); };
constexpr auto of_both = [](auto, auto, auto e, auto dy, auto de) { return dy * (e + 1) + de * e; };
constexpr auto without_the_second = [](auto, auto, auto e, auto dy, auto) { return dy * (e + 1); };

template <auto Gradient>
struct bent {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    auto dx = gradient(sum(std::get<0>(risen(x, Gradient))), x);
    s.output("curve", gradient(sum(dx * dx), x));
  }
};

mt::array<float, in> const x({-1, 0, 0.5});
constexpr char const* refusal =
    "G35: the gradient of the composite 'risen' depends on a result but not on its cotangent";

}  // namespace

TEST_CASE("a result of which the gradient takes no cotangent is differentiated by the body") {
  mt::eager<> s;
  auto const check = [&](auto const& own) {
    auto const h = s(x);
    auto const [y, e] = risen(h, own);
    auto const by_both = s.value(mt::gradient(sum(y) + sum(e * 2), h));
    auto const first = mt::gradient(sum(y), h);
    auto const curve = s.value(mt::gradient(sum(first * first), h));
    for (int i = 0; i < 3; ++i) {
      double const p = std::exp(static_cast<double>(x(in(i))));
      CHECK(by_both(in(i)) == doctest::Approx(p + 1 + 2 * p));
      CHECK(curve(in(i)) == doctest::Approx(2 * (p + 1) * p));
    }
  };
  check(of_the_first);
  check(of_both);
}

TEST_CASE("what the body computes once more are the same random numbers") {
  mt::eager<> s;
  auto const h = s(x);
  auto const [y, kept, rng] = composite_with_gradient(
      "scaled",
      [&](auto a) {
        auto const other = uniform(s / "rng", mt::f32, mt::to(in));
        auto const u = uniform(s / "rng", mt::f32, mt::to(in));
        return std::tuple(u * a * a + other * 0, u * a, u);
      },
      [](auto, auto, auto u_a, auto, auto dy) { return dy * u_a * 2; }, h);
  auto const curve = s.value(mt::gradient(sum(mt::gradient(sum(y), h)), h));
  for (int i = 0; i < 3; ++i) CHECK(curve(in(i)) == s.value(rng)(in(i)) * 2);
}

TEST_CASE("one that uses a result, and leaves out its cotangent, is refused where that is wanted") {
  mt::eager<> s;
  auto const h = s(x);
  auto const [y, e] = risen(h, without_the_second);
  auto const dx = mt::gradient(sum(y), h);
  CHECK(s.value(dx)(in(1)) == 2);
  CHECK_THROWS_WITH_AS(s.value(mt::gradient(sum(dx * dx), h)), doctest::Contains(refusal), mt::error);

  auto const lower = [](auto program) {
    auto const traced = mt::on_heap([] { return mt::trace<decltype(program)>(); });
    return mt::lower(*traced, mt::entry_name<decltype(program)>(), {}, {}, {});
  };
  CHECK(lower(bent<of_the_first>{})->graph.node_count > 0);
  CHECK_THROWS_WITH_AS(lower(bent<without_the_second>{}), doctest::Contains(refusal), mt::error);
}

// SPDX-License-Identifier: Apache-2.0
// Composites: the laws, and of those that bring a gradient, which cotangents of their results that takes, and what goes
// through the body.
// passes: start-up
#include "meshtensor/op/composite.hpp"

#include "meshtensor/meshtensor.hpp"
#include "unit/op/laws.hpp"

using namespace laws;

namespace {

inline constexpr struct steps_dim : mt::dim<"steps", 3> {} steps;
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

mt::array<float, in> const given({-1, 0, 0.5});
constexpr char const* refusal =
    "G35: the gradient of the composite 'risen' depends on a result but not on its cotangent";

}  // namespace

TEST_CASE("a result of which the gradient takes no cotangent is differentiated by the body") {
  mt::eager<> s;
  auto const check = [&](auto const& own) {
    auto const h = s(given);
    auto const [y, e] = risen(h, own);
    auto const by_both = s.value(mt::gradient(sum(y) + sum(e * 2), h));
    auto const first = mt::gradient(sum(y), h);
    auto const curve = s.value(mt::gradient(sum(first * first), h));
    for (int i = 0; i < 3; ++i) {
      double const p = std::exp(static_cast<double>(given(in(i))));
      CHECK(by_both(in(i)) == doctest::Approx(p + 1 + 2 * p));
      CHECK(curve(in(i)) == doctest::Approx(2 * (p + 1) * p));
    }
  };
  check(of_the_first);
  check(of_both);
}

TEST_CASE("what the body computes once more are the same random numbers") {
  mt::eager<> s;
  auto const h = s(given);
  auto const [y, kept, rng] = composite_with_gradient(
      "scaled",
      [&](auto x) {
        auto const other = uniform(s / "rng", mt::f32, mt::to(in));
        auto const u = uniform(s / "rng", mt::f32, mt::to(in));
        return std::tuple(u * x * x + other * 0, u * x, u);
      },
      [](auto, auto, auto u_a, auto, auto dy) { return dy * u_a * 2; }, h);
  auto const curve = s.value(mt::gradient(sum(mt::gradient(sum(y), h)), h));
  for (int i = 0; i < 3; ++i) CHECK(curve(in(i)) == s.value(rng)(in(i)) * 2);
}

TEST_CASE("one that uses a result, and leaves out its cotangent, is refused where that is wanted") {
  mt::eager<> s;
  auto const h = s(given);
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

TEST_CASE("a composite does what is written in it") {
  hold_same(
      "composite",
      [](auto, auto x, auto y, auto...) {
        auto const [p, q] = composite("mine", [](auto u, auto v) { return std::tuple(sin(u) * v + u, u - v); }, x, y);
        return p * q - q;
      },
      [](auto, auto x, auto y, auto...) { return (sin(x) * y + x) * (x - y) - (x - y); });
}

TEST_CASE("laws") {
  hold("one result", [](auto, auto x, auto y, auto...) {
    return composite("mine", [](auto p, auto q) { return sin(p) * q + p; }, x, y);
  });
  hold("two results, one operand from outside", [](auto, auto x, auto y, auto...) {
    auto const [p, q] = composite("mine", [&](auto u) { return std::tuple(u * y, exp(u)); }, x);
    return p * 2 + q;
  });
  hold_for_one("its own gradient", [](auto, auto x, auto, auto...) {
    return composite_with_gradient(
        "mine", [](auto u) { return sin(u) * u; }, [](auto u, auto, auto dy) { return dy * (cos(u) * u + sin(u)); }, x);
  });
  hold_for_one("its own gradient, which holds a loop and a composite with a gradient",
               [](auto s, auto x, auto, auto...) {
                 return composite_with_gradient(
                     "mine", [](auto u) { return power(u, 9) * softmax(u, b); },
                     [&](auto u, auto y, auto dy) {
                       auto const by_power = repeat(s / "loop", steps, u, [](auto, auto h) { return h * h; });
                       auto const p = softmax(u, b);
                       return 9 * dy * by_power * p + dy * y - p * sum(dy * y, b);
                     },
                     x);
               });
  hold("its own gradient, which takes the cotangent of the first result alone", [](auto, auto x, auto y, auto...) {
    return std::get<0>(composite_with_gradient(
        "mine",
        [](auto u, auto v) {
          auto const kept = exp(u * 0.5);
          return std::tuple(kept * v, kept);
        },
        [](auto u, auto v, auto, auto kept, auto d) {
          return std::tuple(sum_like(d * v * kept * 0.5, u), sum_like(d * kept, v));
        },
        x, y));
  });
  hold("its own gradient, in a loop", [](auto s, auto x, auto y, auto...) {
    return repeat(s / "loop", steps, x * y, [&](auto, auto h) {
      auto const [p, q] = composite_with_gradient(
          "mine",
          [](auto u, auto v) {
            auto const kept = tanh(u * v);
            return std::tuple(kept * u, kept);
          },
          [](auto u, auto v, auto, auto kept, auto d) {
            auto const d_inner = d * u * (1 - kept * kept);
            return std::tuple(sum_like(d_inner * v + d * kept, u), sum_like(d_inner * u, v));
          },
          h, y);
      return p + q * 0.5;
    });
  });
  hold("its own gradient, of two operands and two results", [](auto, auto x, auto y, auto...) {
    auto const [p, q] = composite_with_gradient(
        "mine", [](auto u, auto v) { return std::tuple(u * v, u + v); },
        [](auto u, auto v, auto, auto, auto dp, auto dq) { return std::tuple(dp * v + dq, dp * u + dq); }, x * y,
        x + y);
    return p * q;
  });
}

// SPDX-License-Identifier: Apache-2.0
// One of several branches: values, gradients, updates, indices out of range, and choices that differ in an each.
// passes: start-up
#include "meshtensor/op/switch_case.hpp"
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/each.hpp"

#include "unit/op/trial.hpp"

namespace mt = meshtensor;
using mt::to, trial::numbers_of, trial::program;

namespace {

inline constexpr struct token_dim : mt::dim<"token", 6> {} token;
inline constexpr struct in_dim : mt::dim<"in", 2> {} in;

using numbers = std::vector<double>;
template <class Program>
struct in_f64 : mt::precision<Program, mt::f64> {};
void check(numbers const& got, numbers const& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(wanted[i]).epsilon(1e-12));
}

struct three {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), in);
    auto const which = s.input("which", mt::i32);
    auto const first = s.state("first", s.real());
    auto const others = s.state("others", s.real());
    auto const y = mt::switch_case(
        s / "way", which,
        [&](mt::scope auto b) {
          b.update(first, first + 1);
          return x * 2;
        },
        [&](mt::scope auto b) {
          b.update(others, others + 1);
          return x * x;
        },
        [&](mt::scope auto b) {
          b.update(others, others + 10);
          return exp(x);
        });
    s.output("y", y), s.output("dx", gradient(sum(y), x));
  }
};

/// Tokens of a mixture of experts, each of which goes to one expert.
struct experts {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), token, in);
    auto const which = s.input("which", mt::i32, token);
    auto const w = s.parameter("w", in, mt::constant(0.5));
    auto const y = mt::map(s / "tokens", token, std::tuple(x, which), [&](mt::scope auto m, auto x1, auto k) {
      return mt::switch_case(
          m / "expert", k, [&](auto) { return sum(x1 * w, in); }, [&](auto) { return log(sum(x1, in)); },
          [&](auto) { return sum(w * w, in); });
    });
    s.output("y", y);
    auto const [dx, dw] = gradient(sum(y * y), x, w);
    s.output("dx", dx), s.output("dw", dw);
  }
};

}  // namespace

TEST_CASE("an integer chooses a branch, and one out of range the last") {
  program p = program::of<in_f64<three>>();
  p.fill("x", {0.5, -1});
  double first = 0, others = 0;
  for (int which : {0, 1, 2, 1, 7, -3, 0}) {
    p.fill("which", {static_cast<double>(which)});
    mt::blocks const given = p.run();
    if (which == 0) check(numbers_of(given.at("y")), {1, -2}), check(numbers_of(given.at("dx")), {2, 2}), ++first;
    else if (which == 1)
      check(numbers_of(given.at("y")), {0.25, 1}), check(numbers_of(given.at("dx")), {1, -2}), ++others;
    else {
      numbers const e{std::exp(0.5), std::exp(-1.0)};
      check(numbers_of(given.at("y")), e), check(numbers_of(given.at("dx")), e), others += 10;
    }
    check(numbers_of(p.variables.at("first")), {first}), check(numbers_of(p.variables.at("others")), {others});
  }
}

TEST_CASE("each token chooses its own expert, and no other expert sees it") {
  program p = program::of<in_f64<experts>>();
  numbers const x{1, 2, -3, 1, 0.5, 0.25, -1, -1, 2, 2, 0, 0};
  numbers const which{0, 2, 1, 0, 1, 2};  // the logarithm of a sum below 0 is never computed
  p.fill("x", x), p.fill("which", which);
  mt::blocks const given = p.run();
  numbers y, dx, dw{0, 0};
  for (std::size_t i = 0; i < 6; ++i) {
    double const a = x[2 * i], b = x[2 * i + 1];
    if (which[i] == 0) {
      double const v = 0.5 * (a + b);
      y.push_back(v), dx.push_back(2 * v * 0.5), dx.push_back(2 * v * 0.5), dw[0] += 2 * v * a, dw[1] += 2 * v * b;
    } else if (which[i] == 1) {
      double const v = std::log(a + b);
      y.push_back(v), dx.push_back(2 * v / (a + b)), dx.push_back(2 * v / (a + b));
    } else {
      y.push_back(0.5), dx.push_back(0), dx.push_back(0), dw[0] += 2 * 0.5, dw[1] += 2 * 0.5;
    }
  }
  check(numbers_of(given.at("y")), y), check(numbers_of(given.at("dx")), dx), check(numbers_of(given.at("dw")), dw);
}

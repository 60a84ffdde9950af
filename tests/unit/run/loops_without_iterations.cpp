// SPDX-License-Identifier: Apache-2.0
// Steps whose loops run none, some or all of their iterations give what is computed by hand.
// passes: start-up
#include <doctest/doctest.h>

#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct four : mt::dim<"four", 4> {} four;
inline constexpr struct two : mt::axis<"two", 2> {} two;
struct pair : mt::mesh<two> {};
struct parts : mt::layout<mt::shard<four, two>> {};

struct counted {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, four);
    auto const n = s.input("n", mt::i64);
    auto const [count, last, y] = while_loop(
        s / "grow", mt::at_most(3), [&](auto, auto k, auto) { return k < n; },
        [](auto r, auto k, auto h) {
          auto const [inner, end, g] = while_loop(
              r / "inner", mt::at_most(2), [&](auto, auto j, auto) { return j < k; },
              [](auto, auto j, auto f) { return std::tuple(j + 1, f * 3); }, k * 0, h);
          return std::tuple(k + 1, g + 1);
        },
        n * 0, x);
    s.output("count", count);
    s.output("y", y);
    s.output("chosen", cond(s / "even", n > 1, [&](auto) { return x * 10; }, [&](auto) { return x - 1; }));
  }
};

}  // namespace

TEST_CASE("loops of none to all of their iterations, and both branches") {
  mt::job const job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<counted, pair, parts> step(values);
  std::vector<double> const x{1, 2, 3, 4};
  for (std::int64_t n : {0, 2, 1, 7, 3, 0}) {
    CAPTURE(n);
    auto const given = step(mt::feed<"x">(x), mt::feed<"n">(n));
    auto const y = given.get<"y">().gather(), chosen = given.get<"chosen">().gather();
    CHECK(given.get<"count">() == std::min<std::int64_t>(n, 3));
    for (std::int64_t i = 0; i < 4; ++i) {
      double wanted = static_cast<double>(i + 1);
      for (int k = 0; k < std::min<std::int64_t>(n, 3); ++k) {
        for (int j = 0; j < k; ++j) wanted *= 3;
        wanted += 1;
      }
      CHECK(y.data()[i] == wanted);
      CHECK(chosen.data()[i] == (n > 1 ? static_cast<double>(i + 1) * 10 : static_cast<double>(i)));
    }
  }
}

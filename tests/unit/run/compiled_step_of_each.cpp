// SPDX-License-Identifier: Apache-2.0
// A step that the compiler has written out, of a program whose loops and branches differ by index, gives the bits of
// the engine that reads a list.
// timeout: 300
// alone
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct member : mt::dim<"member", 3> {} member;
inline constexpr struct width : mt::dim<"width", 2> {} width;
inline constexpr struct next_width : mt::dim<"next_width", 2> {} next_width;

struct settling {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, member, width);
    auto [losses, counts] = mt::each(s / "members", member, x, [](mt::scope auto m, auto own) {
      auto w = m.parameter("w", width, next_width, mt::normal(0.7));
      auto [n, h] = mt::while_loop(
          m / "settle", mt::at_most(5), [](auto, auto v) { return max(abs(v)) > 0.3; },
          [&](auto, auto v) { return rename(tanh(einsum(v, w, to(next_width))), next_width, width) * 0.8; }, own);
      auto loss = mean(h * h);
      auto kept = mt::cond(
          m / "guard", abs(loss) < 1e30,
          [&](mt::scope auto b) {
            mt::sgd{.learning_rate = 0.1}.minimize(b / "optimizer", loss);
            return loss;
          },
          [&](mt::scope auto b) { return mt::full(b, -1, mt::f32); });
      return std::tuple(kept, n);
    });
    s.output("losses", losses), s.output("counts", counts);
  }
};
inline constexpr struct ranks : mt::axis<"ranks", 2> {} ranks;
struct mesh : mt::mesh<ranks> {};
struct layout : mt::layout<mt::shard<member, ranks>> {};

}  // namespace

TEST_CASE("a compiled step of members that iterate as often as each of them needs") {
  auto const job = mt::job::as_threads();
  mt::store here(job), there(job);
  mt::compiled_step<settling, mesh, layout> step(here);
  mt::executable<settling, mesh, layout> other(there);
  static_assert(decltype(step)::in_straight_line == mt::early);
  float const nan = std::numeric_limits<float>::quiet_NaN();
  for (int i = 0; i < 4; ++i) {
    mt::array<float, member, width> const x({0.1f, 0.2f, 0.9f, -2, i == 2 ? nan : 3, 0.5f});
    auto const mine = step(mt::feed<"x">(x)), its = other(mt::feed<"x">(x));
    CHECK(mine.get<"losses">().gather() == its.get<"losses">().gather());
    CHECK(mine.get<"counts">().gather() == its.get<"counts">().gather());
    CHECK(mine.get<"counts">().gather().data()[0] == 0);
    CHECK(mine.get<"counts">().gather().data()[1] > 0);
    CHECK(here.get<float>("members/w") == there.get<float>("members/w"));
    for (float const w : here.get<float>("members/w")) CHECK(std::isfinite(w));
  }
}

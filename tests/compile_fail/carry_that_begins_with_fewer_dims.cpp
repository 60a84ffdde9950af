// SPDX-License-Identifier: Apache-2.0
// The first carry of a scan has no dims, the next one has those of the batch.
// expect: T03 the next carry of a loop is f32[batch], but the carry is f32[]: begin with a carry of all these
// expect: begin with a carry of all these dims, by broadcast(x, ...) or full(..., to(...)), or reduce the next one
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/full.hpp"

inline constexpr struct rounds : mt::dim<"rounds", 5> {} rounds;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, rounds, batch);
    auto [last, all] = mt::scan(s / "rounds", rounds, full(s, 0, mt::f32), x, [](auto, auto h, auto now) {
      auto next = h + now;
      return std::tuple(next, next);
    });
    s.output("y", last);
  }
};
static_assert(is_accepted<step>);

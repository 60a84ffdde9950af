// SPDX-License-Identifier: Apache-2.0
// A slice has its position before the call, but each step of the call has its own count.
// expect: G55 a position, limit or padding counts the steps within a call of mt::steps, but all steps of a call share
// expect: it: give slice or put a tensor as the position, mt::full(s, s.step(), mt::i64), or feed it as an input
// expect: slice_at_the_step_in_steps.cpp:20)
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/slice.hpp"
#include "meshtensor/op/steps.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct rounds : mt::dim<"rounds", 4> {} rounds;
inline constexpr struct in : mt::dim<"in", 4> {} in;
inline constexpr struct one : mt::dim<"one", 1> {} one;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    s.output("y", slice(x, in, one, s.step() % 4));
  }
};
struct program {
  constexpr void operator()(mt::scope auto s) const { mt::steps(s, rounds, step{}); }
};

constexpr mt::module traced = mt::try_trace<program>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

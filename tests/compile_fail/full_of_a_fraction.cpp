// SPDX-License-Identifier: Apache-2.0
// full(s, 0.5, i32, to(in)).
// expect: T02 0.5 is not an integer, but fills a tensor of i32: choose a float
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/full.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const { s.output("y", mt::full(s, 0.5, mt::i32, mt::to(in))); }
};
static_assert(is_accepted<step>);

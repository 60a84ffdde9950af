// SPDX-License-Identifier: Apache-2.0
// argmax(x).
// expect: T25 argmax goes along a dim, by its name: argmax(x, vocab)
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/argmax.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", argmax(x));
  }
};
static_assert(is_accepted<step>);

// SPDX-License-Identifier: Apache-2.0
// softmax(x, -1).
// expect: T25 softmax goes along a dim, by its name: softmax(x, vocab)
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", softmax(x, -1));
  }
};
static_assert(is_accepted<step>);

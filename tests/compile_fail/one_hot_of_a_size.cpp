// SPDX-License-Identifier: Apache-2.0
// one_hot(index, 4).
// expect: T25 one_hot takes the new dim, then the dtype of its result: one_hot(index, vocab, mt::f32)
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto index = s.input("index", mt::i32, batch);
    s.output("y", x);
    s.output("z", one_hot(index, 4));
  }
};
static_assert(is_accepted<step>);

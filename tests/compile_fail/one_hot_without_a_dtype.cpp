// SPDX-License-Identifier: Apache-2.0
// one_hot(index, classes).
// expect: T24 one_hot takes the new dim, then the dtype of its result: one_hot(index, vocab, mt::f32)
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, out);

    s.output("y", mt::one_hot(iota(s, in, mt::i32), out) + sum(w) + sum(x));
  }
};
static_assert(is_accepted<step>);

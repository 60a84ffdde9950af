// SPDX-License-Identifier: Apache-2.0
// x.sum().
// expect: T30 operations are functions: sum(x, batch), softmax(x, vocab)
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    x.sum();
  }
};
static_assert(is_accepted<step>);

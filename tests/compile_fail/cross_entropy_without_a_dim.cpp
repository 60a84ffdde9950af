// SPDX-License-Identifier: Apache-2.0
// cross_entropy(x, target).
// expect: T25 cross_entropy takes logits, the integers that they should predict
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto target = s.input("target", mt::i32, batch);
    s.output("y", mt::nn::cross_entropy(x, target));
  }
};
static_assert(is_accepted<step>);

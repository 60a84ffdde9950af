// SPDX-License-Identifier: Apache-2.0
// The optimizer is made before the model.
// expect: G28 minimize finds no parameter of dtype f32 declared before it
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", mean(x));
  }
};
static_assert(is_accepted<step>);

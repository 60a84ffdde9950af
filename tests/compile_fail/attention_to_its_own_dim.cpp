// SPDX-License-Identifier: Apache-2.0
// Self-attention without a second name for the dim of positions.
// expect: T40 attention takes two dims of positions, of the queries and of the keys
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, length, in);
    s.output("y", mt::nn::causal_attention(s / "attention", x, length, length, in, layers, out));
  }
};
static_assert(is_accepted<step>);

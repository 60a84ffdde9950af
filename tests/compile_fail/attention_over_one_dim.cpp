// SPDX-License-Identifier: Apache-2.0
// Queries and keys whose positions are counted by one dim.
// expect: T40 attention takes two dims of positions, of the queries and of the keys
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, length, in);
    s.output("y", mt::nn::dot_product_attention(x, x, x, length, length, in));
  }
};
static_assert(is_accepted<step>);

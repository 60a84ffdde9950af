// SPDX-License-Identifier: Apache-2.0
// A mask for each of three groups, which the queries and the keys do not have.
// expect: T03 attention: the mask has a dim that neither the queries nor the keys have
#include "compile_fail/first_attempt.hpp"

inline constexpr struct memory : mt::dim<"memory", 8> {} memory;
inline constexpr struct groups : mt::dim<"groups", 3> {} groups;
struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto q = s.input("q", mt::f32, length, in);
    auto k = s.input("k", mt::f32, memory, in);
    auto mask = s.input("mask", mt::boolean, groups, memory);
    s.output("y", mt::nn::dot_product_attention(q, k, k, length, memory, in, mask));
  }
};
static_assert(is_accepted<step>);

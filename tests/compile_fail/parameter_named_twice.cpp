// SPDX-License-Identifier: Apache-2.0
// Two weights of two layers with one name.
// expect: G03 'w' is declared twice, as f32[in, out] (a parameter) (parameter_named_twice.cpp:10) and as f32
// expect: (parameter_named_twice.cpp:11)
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto h = einsum(x, s.parameter("w", in, out), mt::to(batch, out));
    s.output("y", einsum(h, s.parameter("w", out, length), mt::to(batch, length)));
  }
};
static_assert(is_accepted<step>);

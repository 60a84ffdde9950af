// SPDX-License-Identifier: Apache-2.0
// Of many operands, too, a dim that one alone has is not summed.
// expect: T01 einsum: one operand alone has a dim that the result lacks, so einsum would sum it: name it in to, or
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, out);
    auto w = s.parameter("w", in, out);
    s.output("y", einsum(x, x, x, x, x, x, x, x, w, mt::to(batch, out)));
  }
};
static_assert(is_accepted<step>);

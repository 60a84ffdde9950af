// SPDX-License-Identifier: Apache-2.0
// The wrong dim of a parameter: einsum would sum hidden of the one operand and in of the other.
// quick
// expect: T01 einsum: one operand alone has a dim that the result lacks, so einsum would sum it: name it in to, or
// expect: (f32[batch, out], f32[in], 'out', 'in')
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, out);
    s.output("y", einsum(x, s.parameter("last", in), mt::to(batch)));
  }
};
static_assert(is_accepted<step>);

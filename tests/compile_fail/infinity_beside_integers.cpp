// SPDX-License-Identifier: Apache-2.0
// The greatest of positions, begun at minus infinity.
// expect: T02 -inf is not an integer, but stands beside a tensor of i32: cast the tensor to a float
#include <limits>

#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, out);
    auto greatest = maximum(iota(s, in, mt::i32), -std::numeric_limits<double>::infinity());
    s.output("y", einsum(x * mt::cast<mt::dtype::f32>(greatest), w, mt::to(batch, out)));
  }
};
static_assert(is_accepted<step>);

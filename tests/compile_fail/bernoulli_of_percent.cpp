// SPDX-License-Identifier: Apache-2.0
// A probability is no percentage.
// expect: T51 bernoulli: a probability is from 0 to 1
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const { s.output("y", mt::bernoulli(s / "keep", 90, mt::to(batch, in))); }
};
static_assert(is_accepted<step>);

// SPDX-License-Identifier: Apache-2.0
// std::max(x, x): it branches.
// expect: T27 a tensor has no value while the program is traced
// expect: maximum(a, b) and minimum(a, b) the one or the other
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", std::max(x, x));
  }
};
static_assert(is_accepted<step>);

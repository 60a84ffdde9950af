// SPDX-License-Identifier: Apache-2.0
// float(sum(x)).
// expect: T27 a tensor has no value while the program is traced: s.output("y", y) gives it out
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", x * float(sum(x)));
  }
};
static_assert(is_accepted<step>);

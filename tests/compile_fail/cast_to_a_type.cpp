// SPDX-License-Identifier: Apache-2.0
// cast<int>(x).
// expect: T24 cast takes a dtype, not a type of C++: mt::cast<mt::f32>(x)
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", mt::cast<int>(x));
  }
};
static_assert(is_accepted<step>);

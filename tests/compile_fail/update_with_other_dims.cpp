// SPDX-License-Identifier: Apache-2.0
// The next value of a state lost a dim.
// expect: T03 'kept' is f32[in], but its next value is f32[in, batch]
// expect: (update_with_other_dims.cpp:11)
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto kept = s.state("kept", mt::f32, in);
    s.update(kept, kept + x);
  }
};
static_assert(is_accepted<step>);

// SPDX-License-Identifier: Apache-2.0
// loss.item() while the program is traced.
// expect: T27 a tensor has no value while the program is traced
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    mean(x).item();
  }
};
static_assert(is_accepted<step>);

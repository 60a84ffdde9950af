// SPDX-License-Identifier: Apache-2.0
// block(x): parameters need a place.
// expect: T17 a layer is called with a scope first: part(s / "name", x)
#include "compile_fail/first_attempt.hpp"

inline constexpr mt::layer block = [](mt::scope auto s, auto x) { return x * s.parameter("gain", in); };

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", block(x));
  }
};
static_assert(is_accepted<step>);

// SPDX-License-Identifier: Apache-2.0
// An each in an each over the same dim.
// expect: G42 each and map over 'layers' stand within another one over this dim: use another dim
// expect: each_over_the_dim_of_another.cpp:13)
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/each.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    auto y = mt::each(s / "outer", layers, [&](mt::scope auto m) {
      auto scaled = x * m.parameter("scale");
      return sum(mt::each(m / "inner", layers, [&](mt::scope auto n) { return scaled * n.parameter("scale"); }),
                 layers);
    });
    s.output("y", y);
  }
};
static_assert(is_accepted<step>);

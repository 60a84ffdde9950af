// SPDX-License-Identifier: Apache-2.0
// Rows are named by integers.
// expect: T02 permute: the sources are not integers
#include "meshtensor/op/permute.hpp"

#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", permute(x, batch, sum(x, in)));
  }
};
static_assert(is_accepted<step>);

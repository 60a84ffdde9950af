// SPDX-License-Identifier: Apache-2.0
// Several results are one flat tuple.
// expect: T11 the body of each and map returns tensors, several as one flat tuple, or nothing
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/each.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    mt::map(s / "examples", batch, x,
            [](mt::scope auto, auto one) { return std::tuple(one, std::tuple(one * 2, sum(one))); });
  }
};
static_assert(is_accepted<step>);

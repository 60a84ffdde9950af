// SPDX-License-Identifier: Apache-2.0
// One index sees its slice of a tensor only if the tensor is an operand.
// expect: G44 an each over 'batch' uses a tensor from outside that has this dim, f32[batch, in]: pass it as an operand,
// expect: each_uses_a_tensor_with_its_dim.cpp:11)
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/each.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto loss = mt::map(s / "examples", batch, [&](mt::scope auto) { return sum(x * x); });
    s.output("loss", loss);
  }
};
static_assert(is_accepted<step>);

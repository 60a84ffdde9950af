// SPDX-License-Identifier: Apache-2.0
// Replicas that would never meet.
// expect: S23: local_sgd<steps> has at least one step in a period
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/regime/local_sgd.hpp"
#include "meshtensor/regime/replicas.hpp"

inline constexpr struct replica_dim : mt::dim<"replica", 4> {} replica;

struct learn {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch);
    s.output("y", mean(x, batch));
  }
};
struct step : mt::replicas<learn, replica, mt::local_sgd<0>> {};
static_assert(is_accepted<step>);

// SPDX-License-Identifier: Apache-2.0
// A policy of one's own whose replicas would never meet.
// expect: S23 a period of replicas has at least one step
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/regime/local_sgd.hpp"
#include "meshtensor/regime/replicas.hpp"

inline constexpr struct replica_dim : mt::dim<"replica", 4> {} replica;

struct never : mt::local_sgd<10> {
  constexpr never() { period = 0; }
};
struct learn {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch);
    s.output("y", mean(x, batch));
  }
};
struct step : mt::replicas<learn, replica, never> {};
static_assert(is_accepted<step>);

// SPDX-License-Identifier: Apache-2.0
// Branches have no gradient.
// expect: G30 cond has no gradient yet: choose with select
// expect: with stop_gradient (gradient_of_cond.cpp:
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/gradient.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/pass/differentiate.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in_dim : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    auto y = cond(s / "if", sum(x) < 0, [&](auto) { return x * x; }, [&](auto) { return x; });
    s.output("dx", gradient(sum(y), x));
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
constexpr mt::module differentiated = mt::differentiate(traced);
static_assert(mt::is_valid<differentiated>);
}  // namespace net

int main() {}

// SPDX-License-Identifier: Apache-2.0
// What is watched in a branch might not be there.
// expect: G33 'doubled' is watched in cond or a composite: return it from there and watch it outside
// expect: (watch_in_cond.cpp:21)
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/reduce.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    auto y = cond(
        s / "if", sum(x) < 0,
        [&](auto r) {
          r.watch("doubled", x * 2);
          return x * x;
        },
        [&](auto) { return x; });
    s.output("y", y);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

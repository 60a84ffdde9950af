// SPDX-License-Identifier: Apache-2.0
// A branch may not run, so it has no next value.
// expect: G06 'seen' is updated in cond: return its next value from there, and update it outside
// expect: updated_in_a_branch.cpp:23)
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/elementwise.hpp"
#include "meshtensor/op/reduce.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct in : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto seen = s.state("seen", mt::f32, in);
    auto y = cond(
        s / "sign", sum(x) > 0,
        [&](mt::scope auto r) {
          r.update(seen, seen * 2);
          return x * seen;
        },
        [&](mt::scope auto) { return x; });
    s.output("y", y);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

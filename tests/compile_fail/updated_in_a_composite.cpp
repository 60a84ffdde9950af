// SPDX-License-Identifier: Apache-2.0
// The body of a composite is a definition, which a device may replace.
// expect: G06 'seen' is updated in a composite: return its next value from there, and update it outside
// expect: updated_in_a_composite.cpp:21)
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/composite.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    auto seen = s.state("seen", mt::f32, in);
    s.output("y", mt::composite(
                      "counted",
                      [&](auto h) {
                        s.update(seen, seen * 2);
                        return h * 2;
                      },
                      x));
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

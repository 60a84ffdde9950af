// SPDX-License-Identifier: Apache-2.0
// A variable has one next value.
// expect: is updated twice in one step
// expect: updated_twice.cpp:20)
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct in : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in);
    s.output("y", x + w);
    s.update(w, w * 2);
    s.update(w, w * 3);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

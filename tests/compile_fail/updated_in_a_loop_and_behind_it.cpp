// SPDX-License-Identifier: Apache-2.0
// A state of a loop that is updated inside of it and behind it.
// expect: G05 'seen' is updated twice in one step, first at updated_in_a_loop_and_behind_it.cpp:21
// expect: updated_in_a_loop_and_behind_it.cpp:25)
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct in : mt::dim<"in", 4> {} in;
inline constexpr struct layers : mt::dim<"layers", 3> {} layers;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto seen = s.state("seen", mt::f32, in);
    auto y = repeat(s / "blocks", layers, x, [&](mt::scope auto r, auto h) {
      r.update(seen, seen * 2);
      return h * seen;
    });
    s.output("y", y);
    s.update(seen, seen * 3);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

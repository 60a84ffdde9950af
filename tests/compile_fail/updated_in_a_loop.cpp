// SPDX-License-Identifier: Apache-2.0
// A parameter changes between steps, not between iterations.
// expect: G06 'w' is a parameter, and is updated in a loop: declare it as a state, or update it outside
// expect: updated_in_a_loop.cpp:21)
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
    auto w = s.parameter("w", in);
    auto y = repeat(s / "blocks", layers, x, [&](mt::scope auto r, auto h) {
      r.update(w, w * 2);
      return h * w;
    });
    s.output("y", y);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

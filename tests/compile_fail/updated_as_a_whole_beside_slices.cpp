// SPDX-License-Identifier: Apache-2.0
// A state that a loop slices and updates as a whole.
// expect: G06 'seen' is updated as a whole in a loop along its dim 'layers'
// expect: update the slice that each iteration sees
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
    auto seen = s.state("seen", mt::f32, layers, in);
    auto y = repeat(s / "blocks", layers, x, seen, [&](mt::scope auto r, auto h, auto slice) {
      r.update(seen, seen * 2);
      return std::tuple(h * slice, slice);
    });
    s.output("y", std::get<0>(y));
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

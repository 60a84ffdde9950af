// SPDX-License-Identifier: Apache-2.0
// A scope belongs to the layer that it was made for.
// expect: G04 'w' belongs to the scope 'inner', but is used in the program's own scope: write the part as inline
// expect: constexpr mt::layer
// expect: scope_used_outside_its_layer.cpp:19)
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct in : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto inner = s / "inner";
    s.output("y", x + inner.parameter("w", in));
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

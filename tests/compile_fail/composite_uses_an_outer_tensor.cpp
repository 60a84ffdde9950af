// SPDX-License-Identifier: Apache-2.0
// A composite that brings its gradient is given all that it uses.
// expect: G25 the composite 'scaled' uses a tensor from outside, f32[in] made at
// expect: composite_uses_an_outer_tensor.cpp:18: pass it as one more operand
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/composite.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct in : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto scale = s.parameter("scale", in);
    auto y =
        composite_with_gradient("scaled", [&](auto a) { return a * scale; }, [](auto, auto, auto g) { return g; }, x);
    s.output("y", y);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

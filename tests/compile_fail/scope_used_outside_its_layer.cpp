// SPDX-License-Identifier: Apache-2.0
// A scope belongs to the layer that it was made for.
// expect: G04: a scope is used outside the layer that it was made for
// expect: scope_used_outside_its_layer.cpp:20:
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch : mt::dim<"batch"> {
} batch;
inline constexpr struct in : mt::dim<"in", 4> {
} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto inner = s / "inner";
    s.output("y", x + inner.parameter("w", in));
  }
};

constexpr mt::module traced = mt::trace<step>();
}  // namespace net

int main() {}

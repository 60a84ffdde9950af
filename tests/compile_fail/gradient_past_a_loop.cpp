// SPDX-License-Identifier: Apache-2.0
// A gradient in a loop is that of the iteration, so nothing flows through what was computed before the loop.
// expect: G48 gradient: the body uses a tensor from outside that was computed there from the tensor by which
// expect: gradient_past_a_loop.cpp:
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/gradient.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in : mt::dim<"in", 4> {} in;
inline constexpr struct layers : mt::dim<"layers", 3> {} layers;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    auto w = s.input("w", mt::f32, in);
    auto twice = w * 2;
    auto y = repeat(s / "blocks", layers, x,
                    [&](mt::scope auto, auto h) { return h - gradient(einsum(h, w, twice, mt::to()), w); });
    s.output("y", y);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

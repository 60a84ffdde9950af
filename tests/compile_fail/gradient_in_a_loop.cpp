// SPDX-License-Identifier: Apache-2.0
// A gradient is taken of the whole program, not inside it.
// expect: G26 gradient inside a loop or branch: take it outside
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
    auto y =
        repeat(s / "blocks", layers, x, [](mt::scope auto, auto h) { return h - gradient(einsum(h, h, mt::to()), h); });
    s.output("y", y);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

// SPDX-License-Identifier: Apache-2.0
// Loops stand in loops, but not without end.
// expect: G21 loops and branches are nested more than 8 deep
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in_dim : mt::dim<"in", 4> {} in;
inline constexpr struct layers_dim : mt::dim<"layers", 3> {} layers;

template <int Depth>
constexpr auto nested(mt::scope auto s, auto x) {
  if constexpr (Depth == 0) return x * 2;
  else return repeat(s / "again", layers, x, [](mt::scope auto r, auto h) { return nested<Depth - 1>(r, h); });
}
struct step {
  constexpr void operator()(mt::scope auto s) const { s.output("y", nested<9>(s, s.input("x", mt::f32, in))); }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

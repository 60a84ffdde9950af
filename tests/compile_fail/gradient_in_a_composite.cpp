// SPDX-License-Identifier: Apache-2.0
// The body of a composite is a definition, which a device may replace.
// expect: G26 gradient in the body of a composite: take it outside
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/composite.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/gradient.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    s.output("y", mt::composite("moved", [](auto h) { return h - gradient(einsum(h, h, mt::to()), h); }, x));
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

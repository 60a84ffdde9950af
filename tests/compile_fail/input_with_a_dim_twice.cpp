// SPDX-License-Identifier: Apache-2.0
// A tensor has a dim once: what would be its square has a second dim of the same extent.
// expect: meshtensor T42: a tensor has one dim twice: give one another name
#include "meshtensor/graph/trace.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in_dim : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.input("x", mt::f32, in, in)); }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

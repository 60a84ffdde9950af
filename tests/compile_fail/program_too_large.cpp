// SPDX-License-Identifier: Apache-2.0
// A program has as many nodes as its tables hold, which may be raised.
// expect: G02 the program has more than 64 nodes: write equal layers as one repeat, or compile with
// expect: -DMESHTENSOR_MAX_NODES=4096
// expect: program_too_large.cpp:18)
#define MESHTENSOR_MAX_NODES 64
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    for (int i = 0; i < 64; ++i) x = x * 2;
    s.output("y", x);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

// SPDX-License-Identifier: Apache-2.0
// A program has as many lines as nodes, and half as many again.
// expect: G16 the program has more than 96 lines
// expect: program_of_many_lines.cpp:15)
#define MESHTENSOR_MAX_NODES 64
#include "meshtensor/graph/trace.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in_dim : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    for (int i = 0; i < 97; ++i) s.parameter("w", in);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

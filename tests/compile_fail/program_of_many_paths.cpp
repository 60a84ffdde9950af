// SPDX-License-Identifier: Apache-2.0
// A program has as many paths as its table holds.
// expect: G15 the program has more than 2048 paths
#include "meshtensor/graph/trace.hpp"

namespace mt = meshtensor;

namespace net {
struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto inner = s;
    for (int i = 0; i < 2049; ++i) inner = inner / "deeper";
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

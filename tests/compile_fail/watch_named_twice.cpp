// SPDX-License-Identifier: Apache-2.0
// One name stands for one tensor, in its scope.
// expect: G03 two watched tensors are called 'y': give one of them another name (watch_named_twice.cpp:17)
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    s.watch("y", x + 1);
    s.watch("y", x + 2);
    s.output("y2", x);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

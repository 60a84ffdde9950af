// SPDX-License-Identifier: Apache-2.0
// Memory is planned for a number that a step may change.
// expect: S18 the while_loop 'grow' (while_loop_limit_set_by_name.cpp:1
// expect: needs at_most of a number of at least 1 that is known when the executable is made
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/op/while_loop.hpp"
#include "meshtensor/pass/bind.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in_dim : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto [count, last] = while_loop(
        s / "grow", mt::at_most(s.number("most", 10)), [](auto, auto h) { return sum(h) < 100; },
        [](auto, auto h) { return h * 2; }, s.input("x", mt::f32, in));
    s.output("y", last);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
constexpr mt::binding bound = mt::bind(traced, mt::mesh_shape{}, {});
static_assert(mt::is_valid<bound>);
}  // namespace net

int main() {}

// SPDX-License-Identifier: Apache-2.0
// One name of a dim stands for one extent.
// expect: T05 the dim 'batch' has two extents in this program, 4 and one that is open
// expect: give one of the two dims another name (dim_of_two_extents.cpp:19)
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch : mt::dim<"batch", 4> {} batch;
inline constexpr struct other : mt::dim<"batch"> {} other;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", tanh(s.input("x", mt::f32, batch)));
    // the other dim of the same name
    s.output("z", tanh(s.input("w", mt::f32, other)));
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

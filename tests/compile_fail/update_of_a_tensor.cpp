// SPDX-License-Identifier: Apache-2.0
// Only what a store holds has a next value.
// expect: G08 update: the first argument is not a parameter or state
// expect: update_of_a_tensor.cpp:18)
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct in : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = x * 2;
    s.update(y, y * 2);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

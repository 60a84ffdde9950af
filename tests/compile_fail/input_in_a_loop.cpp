// SPDX-License-Identifier: Apache-2.0
// A step is fed before it runs.
// expect: G07 the input 'scale' is declared inside a loop or branch: declare it before
// expect: input_in_a_loop.cpp:20)
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct in : mt::dim<"in", 4> {} in;
inline constexpr struct layers : mt::dim<"layers", 3> {} layers;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y =
        repeat(s / "blocks", layers, x, [](mt::scope auto r, auto h) { return h * r.input("scale", mt::f32, in); });
    s.output("y", y);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

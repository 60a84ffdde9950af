// SPDX-License-Identifier: Apache-2.0
// The loop's dim is the first of each of its parameters.
// expect: T43 'blocks/w' has the dim 'layers' twice: inside repeat and each a parameter has their dim by itself
// expect: (parameter_with_a_dim_twice.cpp:19)
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/reduce.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in_dim : mt::dim<"in", 4> {} in;
inline constexpr struct layers_dim : mt::dim<"layers", 3> {} layers;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    auto y = repeat(s / "blocks", layers, x,
                    [](mt::scope auto r, auto h) { return h + sum(r.parameter("w", layers, in), layers); });
    s.output("y", y);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

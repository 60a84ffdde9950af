// SPDX-License-Identifier: Apache-2.0
// What is broadcast has as many dims as a tensor may.
// expect: a tensor has more than 10 dims
// also: product_of_eleven_dims.cpp:18:
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace mt = meshtensor;

namespace net {
template <mt::name Name>
struct of : mt::dim<Name, 2> {};

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, of<"a">{}, of<"b">{}, of<"c">{}, of<"d">{}, of<"e">{}, of<"f">{}, of<"g">{},
                     of<"h">{}, of<"i">{}, of<"j">{});
    s.output("y", x * s.input("w", mt::f32, of<"k">{}));
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

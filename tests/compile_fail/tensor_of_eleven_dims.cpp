// SPDX-License-Identifier: Apache-2.0
// A tensor has as many dims as its shape holds.
// expect: meshtensor T07: a tensor has at most 10 dims
// also: tensor_of_eleven_dims.cpp:15:
#include "meshtensor/graph/trace.hpp"

namespace mt = meshtensor;

namespace net {
template <mt::name Name>
struct of : mt::dim<Name, 2> {};

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, of<"a">{}, of<"b">{}, of<"c">{}, of<"d">{}, of<"e">{}, of<"f">{}, of<"g">{},
                     of<"h">{}, of<"i">{}, of<"j">{}, of<"k">{});
    s.output("y", x);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

// SPDX-License-Identifier: Apache-2.0
// A node has as many operands as its list holds.
// expect: G12 one node has more than 1024 operands or results
#include <utility>

#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in_dim : mt::dim<"in", 4> {} in;
inline constexpr struct layers_dim : mt::dim<"layers", 3> {} layers;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    auto use = [&]<int... I>(std::integer_sequence<int, I...>) {
      auto last = x;
      decltype(x) outer[] = {(static_cast<void>(I), last = last * x)...};  // with few nodes
      return repeat(s / "blocks", layers, x, [&](mt::scope auto, auto h) {
        for (auto const& o : outer) h = h + o;
        return h;
      });
    };
    s.output("y", use(std::make_integer_sequence<int, 1025>()));
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

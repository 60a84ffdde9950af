// SPDX-License-Identifier: Apache-2.0
// The body of a scan gives its next carry and what is stacked.
// expect: T11 the body of scan returns std::tuple(next carry, what is stacked)
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

inline constexpr struct length_dim : mt::dim<"length", 4> {} length;

struct summed {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, length);
    auto [last, all] = scan(s / "sum", length, sum(x), x, [](auto, auto h, auto e) { return h + e; });
    s.output("last", last);
  }
};
constexpr mt::module traced = mt::try_trace<summed>();
static_assert(mt::is_valid<traced>);

int main() { return traced.node_count; }

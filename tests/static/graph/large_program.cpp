// SPDX-License-Identifier: Apache-2.0
// A program nearly as large as a module has room for is within the limits that the library's target gives the compiler.
#include "meshtensor/pass/lower.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct in : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    for (int i = 0; i < 1300; ++i) x = x * 2 + x;
    s.output("y", x);
  }
};

constexpr mt::module const& traced = mt::detail::traced<step>;
static_assert(mt::is_valid<traced> && traced.node_count > mt::max_nodes * 9 / 10);
}  // namespace

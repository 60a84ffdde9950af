// SPDX-License-Identifier: Apache-2.0
// Programs that are declared together give a parameter that they share one initializer.
// expect: G03 'w' is declared twice, starting with ones (programs_disagree_on_an_initializer.cpp:15) and with
//
// expect: uniform(0.5) (programs_disagree_on_an_initializer.cpp:18): give both the same initializer
//
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/pass/lower.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in_dim : mt::dim<"in", 4> {} in;
struct one {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.parameter("w", in, mt::ones)); }
};
struct other {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.parameter("w", in, mt::uniform(0.5))); }
};

constexpr mt::module traced = mt::try_trace<mt::programs<one, other>>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

// SPDX-License-Identifier: Apache-2.0
// One parameter starts in one way.
// quick
// expect: G03 'w' is declared twice, starting with ones (parameter_of_two_initializers.cpp:18) and with normal(0.02)
//
// expect: (parameter_of_two_initializers.cpp:19): give both the same initializer, or one of them another name
//
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/op/elementwise.hpp"
#include "meshtensor/pass/lower.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in_dim : mt::dim<"in", 4> {} in;
struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.parameter("w", in, mt::ones);
    s.output("y", x + s.parameter("w", in, mt::normal(0.02)));
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

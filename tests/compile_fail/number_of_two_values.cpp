// SPDX-License-Identifier: Apache-2.0
// One name is one number.
// expect: G03 the number 'rate' is declared twice, as 0.1 (number_of_two_values.cpp:19) and as 0.5
//
// expect: (number_of_two_values.cpp:20): give both the same value, or one of them another name
//
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/op/elementwise.hpp"
#include "meshtensor/pass/lower.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in_dim : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    auto y = x * s.number("rate", 0.1);
    s.output("y", y * s.number("rate", 0.5));
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

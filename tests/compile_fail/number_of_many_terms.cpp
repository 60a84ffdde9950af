// SPDX-License-Identifier: Apache-2.0
// A number is an expression of bounded size.
// expect: G11 a number is an expression of more than 24 terms: compute a part of it as a tensor
// expect: number_of_many_terms.cpp:19)
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct in : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto n = s.number("rate", 0.5);
    for (int i = 0; i < 20; ++i) n = n * n + 1;
    s.output("y", x * n);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

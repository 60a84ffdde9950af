// SPDX-License-Identifier: Apache-2.0
// A dim is made from dims that are known.
// expect: meshtensor refuses it, for this Reason
// expect: T08 the dim 'longer' is made from the extent of 'tokens', a dim that no tensor of this program has had before
// expect: (dim_made_from_an_absent_one.cpp:17)
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct tokens_dim : mt::dim<"tokens"> {} tokens;
inline constexpr struct longer_dim : mt::dim<"longer", tokens + 1> {} longer;

struct step {
  constexpr void operator()(mt::scope auto s) const { s.output("y", tanh(s.input("x", mt::f32, longer))); }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

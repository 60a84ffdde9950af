// SPDX-License-Identifier: Apache-2.0
// The extent of a dim is a number of programs that have the dim.
// expect: T08 a number is made from the extent of 'tokens', a dim that no tensor of this program has had before
// expect: (number_of_an_absent_dim.cpp:16)
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct tokens_dim : mt::dim<"tokens"> {} tokens;
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;

struct step {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.input("x", mt::f32, batch) * extent(tokens)); }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}

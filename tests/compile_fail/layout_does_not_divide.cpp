// SPDX-License-Identifier: Apache-2.0
// A finding of a pass is printed whole, with its facts and the fix.
// quick
// expect: meshtensor: the layout does not fit this program, for the reason below
// expect: S02 dim 'batch' (31) is sharded over mesh axis 'rows' (2 processors), which does not divide it
// expect: make it a multiple of 2, or replicate it
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/elementwise.hpp"
#include "meshtensor/pass/bind.hpp"
#include "meshtensor/pass/partition.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch : mt::dim<"batch", 31> {} batch;
inline constexpr struct rows : mt::axis<"rows", 2> {} rows;
struct mesh : mt::mesh<rows> {};
struct layout : mt::layout<mt::shard<batch, rows>> {};

struct step {
  constexpr void operator()(mt::scope auto s) const { s.output("y", tanh(s.input("x", mt::f32, batch))); }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
constexpr mt::module partitioned = mt::partition(traced, mesh::shape, layout::rules);
constexpr mt::binding bound = mt::bind(partitioned, mesh::shape);
static_assert(mt::is_valid<partitioned>);
static_assert(mt::is_valid<bound>);
}  // namespace net

int main() {}

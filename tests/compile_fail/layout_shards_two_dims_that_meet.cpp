// SPDX-License-Identifier: Apache-2.0
// An axis shards one dim of an operation, whichever operand has it.
// expect: S05 mesh axis 'data' shards two dims that meet in one operation, 'batch' and 'length':
// expect: layout_shards_two_dims_that_meet.cpp:21)
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/elementwise.hpp"
#include "meshtensor/pass/partition.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 3> {} length;
inline constexpr struct data_axis : mt::axis<"data", 2> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>, mt::shard<length, data>> {};

struct step {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", s.input("x", mt::f32, batch) * s.input("w", mt::f32, length));
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
constexpr mt::module partitioned = mt::partition(traced, mesh::shape, layout::rules);
static_assert(mt::is_valid<partitioned>);
}  // namespace net

int main() {}

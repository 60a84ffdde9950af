// SPDX-License-Identifier: Apache-2.0
// A reshard adds to what the layout says of the other dims.
// expect: S05 reshard shards '
// expect: (reshard, reshard_over_an_axis_in_use.cpp:22)
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/elementwise.hpp"
#include "meshtensor/op/reshard.hpp"
#include "meshtensor/pass/partition.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 3> {} length;
inline constexpr struct data_axis : mt::axis<"data", 2> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>> {};

struct step {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", reshard(s.input("x", mt::f32, batch, length), mt::shard<length, data>{}));
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
constexpr mt::module partitioned = mt::partition(traced, mesh::shape, layout::rules);
static_assert(mt::is_valid<partitioned>);
}  // namespace net

int main() {}

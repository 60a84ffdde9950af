// SPDX-License-Identifier: Apache-2.0
// An axis shards one dim of a tensor.
// expect: meshtensor refuses it, for this Reason
// expect: S05 mesh axis 'data' shards two dims of one tensor [batch, length], 'batch' and 'length'
// expect: drop one of the rules, or make this part a layer and replicate one of them in its scope
// expect: (input, layout_shards_two_dims_of_a_tensor.cpp:22)
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
  constexpr void operator()(mt::scope auto s) const { s.output("y", tanh(s.input("x", mt::f32, batch, length))); }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
constexpr mt::module partitioned = mt::partition(traced, mesh::shape, layout::rules);
static_assert(mt::is_valid<partitioned>);
}  // namespace net

int main() {}

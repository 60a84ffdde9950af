// SPDX-License-Identifier: Apache-2.0
// A layout names axes of the mesh that it is used with.
// expect: meshtensor refuses it, for this Reason
// expect: S04 the layout shards dim 'batch' over the axis 'model', which the mesh does not have
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/elementwise.hpp"
#include "meshtensor/pass/partition.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct data_axis : mt::axis<"data", 2> {} data;
inline constexpr struct model_axis : mt::axis<"model", 2> {} model;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, model>> {};

struct step {
  constexpr void operator()(mt::scope auto s) const { s.output("y", tanh(s.input("x", mt::f32, batch))); }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
constexpr mt::module partitioned = mt::partition(traced, mesh::shape, layout::rules);
static_assert(mt::is_valid<partitioned>);
}  // namespace net

int main() {}

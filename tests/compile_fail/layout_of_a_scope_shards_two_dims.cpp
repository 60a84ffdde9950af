// SPDX-License-Identifier: Apache-2.0
// A rule of a scope and one of the whole layout name one axis: the other dim is replicated in that scope.
// expect: S05 mesh axis 'data' shards two dims of one tensor [in, length], 'in' and 'length': drop one of the rules
// expect: in<"optimizer", replicate<in>>
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/elementwise.hpp"
#include "meshtensor/pass/partition.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in_dim : mt::dim<"in", 4> {} in;
inline constexpr struct length_dim : mt::dim<"length", 3> {} length;
inline constexpr struct data_axis : mt::axis<"data", 2> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<in, data>, mt::in<"optimizer", mt::shard<length, data>>> {};

inline constexpr mt::layer inner = [](mt::scope auto s) { return s.parameter("m", in, length); };
struct step {
  constexpr void operator()(mt::scope auto s) const { s.output("y", tanh(inner(s / "optimizer" / "w"))); }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
constexpr mt::module partitioned = mt::partition(traced, mesh::shape, layout::rules);
static_assert(mt::is_valid<partitioned>);
}  // namespace net

int main() {}

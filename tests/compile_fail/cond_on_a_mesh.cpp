// SPDX-License-Identifier: Apache-2.0
// A branch cannot be spread over a mesh.
// expect: meshtensor: the layout does not fit this program, for the reason below
// expect: S21 cond cannot be spread over a mesh yet
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/elementwise.hpp"
#include "meshtensor/pass/partition.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct data_axis : mt::axis<"data", 2> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>> {};

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch);
    auto y = cond(s / "if", s.input("positive", mt::boolean), [&](auto) { return x; }, [&](auto) { return -x; });
    s.output("y", y);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
constexpr mt::module partitioned = mt::partition(traced, mesh::shape, layout::rules);
static_assert(mt::is_valid<partitioned>);
}  // namespace net

int main() {}

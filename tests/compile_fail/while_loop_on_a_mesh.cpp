// SPDX-License-Identifier: Apache-2.0
// A loop of unknown length cannot be spread over a mesh.
// expect: S21 while_loop cannot be spread over a mesh yet
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/pass/partition.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct data_axis : mt::axis<"data", 2> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>> {};

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto [trips, y] = while_loop(
        s / "grow", mt::at_most(10), [](auto, auto h) { return sum(h) < 100; }, [](auto, auto h) { return h * 2; },
        s.input("x", mt::f32, batch));
    s.output("y", y);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
constexpr mt::module partitioned = mt::partition(traced, mesh::shape, layout::rules);
static_assert(mt::is_valid<partitioned>);
}  // namespace net

int main() {}

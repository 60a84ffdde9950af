// SPDX-License-Identifier: Apache-2.0
// A topology keeps the sum of values.
// expect: G49 the topology onward of 4 replicas does not keep the sum of values
#include "meshtensor/regime/hop.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct replica_dim : mt::dim<"replica", 4> {} replica;

struct onward {
  static constexpr int period(int) { return 1; }
  static constexpr int slots(int) { return 1; }
  static constexpr mt::edge incoming(int n, std::int64_t, int worker, int) { return {(worker + n - 1) % n, 0.25}; }
  static constexpr double kept(int, std::int64_t, int) { return 0.5; }
};
struct step {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", mt::hop<onward>(s, replica, s.step())(s.input("x", mt::f32, replica)));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }

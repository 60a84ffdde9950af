// SPDX-License-Identifier: Apache-2.0
// A consensus reads parameters of the dtype that the replicas train.
// expect: T57 the program of a consensus has parameters of bf16, but those of the replicas are f64
#include "meshtensor/nn/sgd.hpp"
#include "meshtensor/regime/regime.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct replica_dim : mt::dim<"replica", 4> {} replica;
inline constexpr struct width_dim : mt::dim<"width", 4> {} width;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    mt::sgd{}.minimize(s / "optimizer", sum(s.parameter("w", width) * s.input("x", s.real(), width)));
  }
};
struct show {
  constexpr void operator()(mt::scope auto s) const { s.output("w", s.parameter("w", width) * 1); }
};
struct train : mt::replicas<mt::precision<step, mt::f64>, replica, mt::synchronous> {};
struct show_mean : mt::consensus<mt::precision<show, mt::bf16>, train> {};
constexpr mt::module traced = mt::try_trace<show_mean>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }

// SPDX-License-Identifier: Apache-2.0
// A program that sees the mean of replicas does not train them.
// expect: G08 update: the program sees the mean of replicas, which is not stored: update variables in the training step
// expect: update_in_a_consensus.cpp:22)
#include "meshtensor/op/elementwise.hpp"
#include "meshtensor/regime/consensus.hpp"
#include "meshtensor/regime/synchronous.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct replica_dim : mt::dim<"replica", 4> {} replica;
inline constexpr struct in_dim : mt::dim<"in", 4> {} in;

struct train_step {
  constexpr void operator()(mt::scope auto s) const { s.parameter("w", in, mt::ones); }
};
struct train : mt::replicas<train_step, replica, mt::synchronous> {};
struct evaluate {
  constexpr void operator()(mt::scope auto s) const {
    auto w = s.parameter("w", in, mt::ones);
    s.update(w, w * 2);
  }
};
constexpr mt::module traced = mt::try_trace<mt::consensus<evaluate, train>>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }

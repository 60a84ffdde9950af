// SPDX-License-Identifier: Apache-2.0
// A program that sees the mean of replicas does not train them, by an optimizer either.
// expect: G08 update: the program sees the mean of replicas, which is not stored: update variables in the training step
#include "meshtensor/nn/sgd.hpp"
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
struct show {
  constexpr void operator()(mt::scope auto s) const {
    auto w = s.parameter("w", in, mt::ones);
    mt::sgd{}.minimize(s / "optimizer", sum(w * w));
  }
};
constexpr mt::module traced = mt::try_trace<mt::consensus<show, train>>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }

// SPDX-License-Identifier: Apache-2.0
// The model whose policies regime_times predicts and regime_steps measures: equal layers one after the other.
#pragma once

#include <cstdint>

#include "meshtensor/meshtensor.hpp"
#include "meshtensor/regime/regime.hpp"

namespace layers_in_a_row {

namespace mt = meshtensor;

inline constexpr struct batch_dim : mt::dim<"batch"> {} batch;
inline constexpr struct width_dim : mt::dim<"width"> {} width;
inline constexpr struct next_dim : mt::dim<"next"> {} next;
inline constexpr struct replica_dim : mt::dim<"replica"> {} replica;
inline constexpr struct ranks_axis : mt::axis<"ranks"> {} ranks;
struct mesh : mt::mesh<ranks> {};
/// The layout of one model whose batch is that of all replicas.
struct data_parallel : mt::layout<mt::shard<batch, ranks>> {};

constexpr std::int64_t batch_of_one = 256;  // so that products take nearly all of the time

/// Layers one after the other, which are no loop, so that an all_reduce may travel while gradients of earlier layers
/// are computed.
struct layers {
  template <mt::scope S, class H>
  constexpr H operator()(S const& s, H const& h, int count) const {
    auto const here = s.enter();
    H const y = rename(tanh(einsum(h, s.parameter("w", width, next), mt::to(batch, next))), next, width);
    return count == 1 ? y : (*this)(s / "behind", y, count - 1);
  }
};
/// A step of an optimizer on `Count` layers.
template <class Optimizer, int Count>
struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto const last = layers{}(s / "layers", s.input("x", mt::f32, batch, width), Count);
    Optimizer{.learning_rate = 0.1}.minimize(s / "optimizer", mean(last * last));
  }
};
template <class Step, class Device>
using step_of_one = mt::executable<Step, mesh, data_parallel, Device>;
template <class Step, class Policy, class Device>
using step_of =
    mt::executable<mt::replicas<Step, replica, Policy>, mesh, mt::over_replicas<mt::layout<>, replica, ranks>, Device>;

}  // namespace layers_in_a_row

// SPDX-License-Identifier: Apache-2.0
// The numbers of an optimizer as tensors. In a loop or a branch, those that count updates are computed in the graph.
#pragma once

#include "meshtensor/nn/schedule.hpp"
#include "meshtensor/op/detail/composed.hpp"

namespace meshtensor::nn::detail {

/// Whether a number counts updates, or is computed from one that does.
constexpr bool counts_updates(module const& m, number_id row) {
  number_row const& n = m.numbers[row];
  if (n.kind != number_row::expression) return n.is_count() && n.kind != number_row::step;
  return counts_updates(m, static_cast<number_id>(n.first)) ||
         (n.second != id{no_id} && counts_updates(m, static_cast<number_id>(n.second)));
}

/// A number as an f64 of the graph in which `done` is the number of updates.
constexpr value_id counted(builder& b, number_id row, value_id done) {
  number_row const n = b.m.numbers[row];
  if (!counts_updates(b.m, row)) return constant(b, number::of_row(&b, row), dtype::f64);
  if (n.kind != number_row::expression) return done;
  value_id const first = counted(b, static_cast<number_id>(n.first), done);
  if (n.second == id{no_id}) return elementwise(b, n.f, first);
  return elementwise(b, n.f, first, counted(b, static_cast<number_id>(n.second), done));
}

/// The number of updates that an optimizer in a loop or a branch has made: a state, because a region may run any number
/// of times in a step. Outside of them and in mt::steps, numbers count updates.
template <scope S>
constexpr tensor<dtype::i64> updates_in_region(S const& s) {
  return s.state("updates", i64);
}

/// A number of an optimizer as a tensor without dims.
template <dtype T, scope S>
constexpr tensor<T> own_tensor(S const& s, number const& n) {
  builder& b = s.graph_builder();
  number_id const row = b.add_number(n);
  if (meshtensor::detail::is_in_steps_alone(b) || !counts_updates(b.m, row))
    return meshtensor::detail::as_tensor<T>(b, n);
  value_id const done = cast(b, updates_in_region(s).id, dtype::f64);
  return {&b, cast(b, counted(b, row, done), T)};
}

}  // namespace meshtensor::nn::detail

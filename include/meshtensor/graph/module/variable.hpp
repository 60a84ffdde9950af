// SPDX-License-Identifier: Apache-2.0
// Rows of parameters and states.
#pragma once

#include <cstdint>

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/graph/merge_rule.hpp"
#include "meshtensor/graph/replica_sharing.hpp"
#include "meshtensor/tensor/ids.hpp"
#include "meshtensor/tensor/layout.hpp"
#include "meshtensor/tensor/shape.hpp"

namespace meshtensor {

enum class initializer_kind : std::uint8_t { automatic, constant, normal, uniform };

/// A value that persists between steps: a parameter, or state.
struct variable {
  path_id path;
  dtype type;
  bool trainable;
  initializer_kind start;
  number_id number;  // constant: the value; normal: standard deviation; uniform: half the width
  shape dims;
  std::uint8_t own;     // the number of leading dims that enclosing loops added
  std::uint16_t equal;  // a mask of leading dims whose indices all start with the same numbers
  placement layout;
  site_id site;        // where it was declared first
  std::uint8_t again;  // how often a program declares it again, because weights are shared
  bool idle;           // whether a gradient is taken by it, although the loss does not depend on it
  merge_rule merge;    // how its values for replicas are merged, as declared
  std::uint8_t along;  // the position of the dim of the replicas among its dims, plus 1, or 0 without replicas
  bool alone;  // whether it is a norm's average over one replica's batch, although a policy keeps the replicas equal
  replica_sharing sharing;  // by the policies of all programs that declare it

  /// The position of the dim of the replicas, or -1 if it has none.
  constexpr int replica_dim() const { return along - 1; }
  /// The rule that applies, never `automatic`.
  constexpr merge_rule merged_by() const {
    if (merge != merge_rule::automatic) return merge;
    return !is_float(type) ? merge_rule::largest : trainable ? merge_rule::weighted_mean : merge_rule::mean;
  }
};

}  // namespace meshtensor

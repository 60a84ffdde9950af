// SPDX-License-Identifier: Apache-2.0
// The network along a mesh axis as two numbers, and how many messages of a collective follow each other.
#pragma once

#include <bit>

#include "meshtensor/base/all_reduce.hpp"
#include "meshtensor/base/name.hpp"

namespace meshtensor {

/// The network between the ranks along a mesh axis: latency of a message in seconds, and bytes a second that a rank
/// receives.
struct link {
  name axis;
  double latency = 0, bytes_per_second = 0;
};

/// The messages of a collective over `count` ranks that follow each other: as many as a tree has levels, twice as many
/// for an all_reduce by parts, those of reduction_steps for a small one.
///
/// source  the alpha-beta model; Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in
///         MPICH", 2005
constexpr int messages_in_turn(bool is_all_reduce, bool in_steps, int count) {
  if (count < 2) return 0;
  reduction_steps const steps(count);
  if (is_all_reduce && in_steps) return steps.exchanges() + (steps.rest != 0 ? 2 : 0);
  int const levels = static_cast<int>(std::bit_width(static_cast<unsigned>(count - 1)));
  return is_all_reduce ? 2 * levels : levels;
}

}  // namespace meshtensor

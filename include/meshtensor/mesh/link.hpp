// SPDX-License-Identifier: Apache-2.0
// The network along a mesh axis as two numbers, and the number of sequential messages in a collective.
#pragma once

#include <bit>

#include "meshtensor/base/all_reduce.hpp"
#include "meshtensor/base/name.hpp"

namespace meshtensor {

/// The network between the ranks along a mesh axis: the latency of a message in seconds, and the bytes that a rank
/// receives in a second.
struct link {
  name axis;
  double latency = 0, bytes_per_second = 0;
};

/// The number of sequential messages in a collective over `count` ranks, each of which must wait for the one before. It
/// is the number of levels of a tree. An all_reduce by parts takes twice as many, and a small all_reduce takes the
/// steps of `reduction_steps`.
///
/// source  the alpha-beta model, Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in
///         MPICH", 2005
constexpr int messages_in_turn(bool is_all_reduce, bool in_steps, int count) {
  if (count < 2) return 0;
  reduction_steps const steps(count);
  if (is_all_reduce && in_steps) return steps.exchanges() + (steps.rest != 0 ? 2 : 0);
  int const levels = static_cast<int>(std::bit_width(static_cast<unsigned>(count - 1)));
  return is_all_reduce ? 2 * levels : levels;
}

}  // namespace meshtensor

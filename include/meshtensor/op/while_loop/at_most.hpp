// SPDX-License-Identifier: Apache-2.0
// The limit of a while_loop's iterations.
#pragma once

#include <optional>

#include "meshtensor/tensor/call.hpp"
#include "meshtensor/tensor/number.hpp"

namespace meshtensor {

/// The maximum number of iterations of a `while_loop`: a number that is known before the first step, so that memory can
/// be planned.
struct at_most {
  number limit;
  line where;
  std::optional<int> recomputed_at_once;  // iterations, for the gradient. If empty, all their values are saved
  constexpr explicit at_most(number const& n, line const& written = {}) : limit(n), where(written) {}

  /// Saves only the carries at the start of each group of `iterations` iterations. The backward loop runs each group
  /// again before it goes through it. For example, `at_most(1024).recomputing(32)` saves 32 carries, and then the
  /// values that 32 iterations need, instead of those that 1,024 need. This takes about a third more arithmetic.
  /// Results are bit-equal, random numbers included. However, sums over iterations, in gradients, are made in as many
  /// parts as there are groups.
  ///
  /// errors  G38 the limit is no literal, or no multiple of `iterations`
  /// source  Griewank and Walther, Evaluating Derivatives, chapter 12: two levels of checkpoints
  constexpr at_most recomputing(int iterations) const {
    at_most again = *this;
    again.recomputed_at_once = iterations;
    return again;
  }
};

}  // namespace meshtensor

// SPDX-License-Identifier: Apache-2.0
// Detects a training that has gone wrong: its loss is infinite, NaN, or far above the losses before it.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "meshtensor/job/agree.hpp"

namespace meshtensor {

/// The limit above which a `loss_guard` reports a loss.
struct loss_guard_options {
  /// The limit of a loss, as a multiple of the mean.
  double factor = 10;
  /// The number of losses in the mean. As long as there are fewer losses, only an infinite or NaN loss is wrong.
  int last = 16;
};

/// Tells whether the loss of a step is infinite, NaN, or more than a factor above the mean of the last good losses.
/// Call it after each step. All processes get the same result, because they compare the greatest loss of any process.
///
///     mt::loss_guard is_wrong(job);
///     …
///     if (is_wrong(loss)) {
///       mt::progress(job, "{}: back to the last checkpoint\n", is_wrong.reason());
///       keep.resume(), is_wrong.forget();  // and go on with other data than those that led here
///     }
///
/// errors  R34 the factor is not above one, or the number of losses is below one
class loss_guard {
 public:
  /// Collective: all processes make it.
  template <class P>
  requires std::constructible_from<agreement, P&>
  explicit loss_guard(P& p, loss_guard_options const& how = {}) : greatest_(p), factor_(how.factor) {
    if (!(how.factor > 1) || how.last < 1)
      throw error("R34", {"a loss cannot be told to be wrong at ", std::to_string(how.factor), " times the mean of ",
                          how.last, " losses: the factor is above 1, and there is one loss at least"});
    losses_.resize(static_cast<std::size_t>(how.last));
  }

  /// Collective: all processes call it. A wrong loss does not enter the mean.
  bool operator()(double loss) {
    double const worst = greatest_(is_finite(loss) ? loss : not_finite);
    if (worst == not_finite) {
      reason_ = "the loss is not finite";
      return true;
    }
    std::size_t const last = losses_.size();
    if (seen_ >= last) {
      double mean = 0;
      for (double const x : losses_) mean += x / static_cast<double>(last);
      if (worst - mean > (factor_ - 1) * (mean < 0 ? -mean : mean)) {
        reason_ = "the loss of " + std::to_string(worst) + " is far above " + std::to_string(mean) +
                  ", the mean of the last " + std::to_string(last);
        return true;
      }
    }
    losses_[seen_++ % last] = worst;
    reason_.clear();
    return false;
  }

  /// The reason why the last loss was wrong, or an empty text if it was good. It is the same on all processes.
  std::string const& reason() const { return reason_; }
  /// Forgets the losses so far. Call it after loading a checkpoint, because the losses of other values are different.
  void forget() { seen_ = 0, reason_.clear(); }

 private:
  static constexpr double not_finite = std::numeric_limits<double>::max();
  /// Tests the bits, because a compiler that assumes finite numbers removes `isfinite`.
  static bool is_finite(double x) {
    constexpr std::uint64_t exponent = 0x7ffull << 52;
    return (std::bit_cast<std::uint64_t>(x) & exponent) != exponent;
  }

  agreement greatest_;
  double factor_;
  std::vector<double> losses_;
  std::size_t seen_ = 0;
  std::string reason_;
};

}  // namespace meshtensor

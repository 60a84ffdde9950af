// SPDX-License-Identifier: Apache-2.0
// The rules by which the values of replicas are merged, when a run resumes with another number of replicas.
#pragma once

#include <cstdint>

namespace meshtensor {

/// How a parameter or a state of replicas resumes with another number of replicas. A declaration may end with it, for
/// example `s.state("residual", mt::f32, channels, mt::merge_rule::sum)`. With the same number of replicas, every value
/// resumes as it was saved, and the rule has no effect.
///
/// errors  T55 the rule does not fit the value; G03 a value is declared twice, with two rules
enum class merge_rule : std::uint8_t {
  /// `weighted_mean` for parameters, `mean` for other floats, and `largest` for integers and bools.
  automatic,
  /// Each new replica gets the mean of all.
  mean,
  /// As `mean`, but each replica counts by its state with the rule `mass`, if the checkpoint has one.
  weighted_mean,
  /// Each new replica gets the largest. This is the rule of counts, which are equal as a rule.
  largest,
  /// The sum over all replicas stays. Each new replica gets an equal share, and a rest of integers goes to the first.
  sum,
  /// The weight of a replica: one float. Each new replica gets 1, also if the checkpoint has no weights.
  mass,
  /// Each new replica gets the initializer, which is a constant.
  restart,
};

/// The rules by their names, in the order of the enumeration. Checkpoints have these names.
inline constexpr char const* merge_rule_names[] = {"automatic", "mean", "weighted_mean", "largest",
                                                   "sum",       "mass", "restart"};
constexpr char const* text_of(merge_rule rule) { return merge_rule_names[static_cast<int>(rule)]; }

}  // namespace meshtensor

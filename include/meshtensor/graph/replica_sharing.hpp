// SPDX-License-Identifier: Apache-2.0
// Says what the replicas of a program share at the end of each step, because of the policy by which they meet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace meshtensor {

/// A part of the values that is equal in all replicas: none, the parameters at the start of a period, or all of them.
enum class shared_by_replicas : std::uint8_t { nothing, start, parameters };

/// These by their names in checkpoints, in the order of the enumeration.
inline constexpr char const* names_of_shared[] = {"nothing", "start", "parameters"};

/// The values that a policy needs replicas to share before a step, and those that it lets them share after it.
struct replica_sharing {
  static constexpr std::int64_t always = std::numeric_limits<std::int64_t>::max();
  std::int64_t equal_before = 0;  // the number of first steps before which all parameters must be equal
  std::int64_t equal_after = 0;   // … and after which they are
  bool needs_start = false;       // whether replicas must have the same parameters at the start of a period
  bool has_start = false;         // … and do have them
  bool is_known = false;          // whether a policy changes the parameters at all
  bool is_weighted = false;       // whether replicas have weights of their own, by which they count

  constexpr shared_by_replicas needed(std::uint64_t steps) const {
    if (steps < static_cast<std::uint64_t>(equal_before)) return shared_by_replicas::parameters;
    return needs_start ? shared_by_replicas::start : shared_by_replicas::nothing;
  }
  constexpr shared_by_replicas given(std::uint64_t steps) const {
    if (steps <= static_cast<std::uint64_t>(equal_after)) return shared_by_replicas::parameters;
    return has_start ? shared_by_replicas::start : shared_by_replicas::nothing;
  }
  /// What replicas share after a step, if they shared `before` and the step comes behind `steps` others.
  constexpr shared_by_replicas after_step(shared_by_replicas before, std::uint64_t steps) const {
    return before < needed(steps) ? std::min(before, given(steps + 1)) : given(steps + 1);
  }
  /// For two programs that train the same parameters.
  constexpr replica_sharing together_with(replica_sharing const& other) const {
    replica_sharing both = is_known ? *this : other;
    if (is_known && other.is_known)
      both = {std::max(equal_before, other.equal_before), std::min(equal_after, other.equal_after),
              needs_start || other.needs_start, has_start && other.has_start, true};
    both.is_weighted = is_weighted || other.is_weighted;
    return both;
  }
};

}  // namespace meshtensor

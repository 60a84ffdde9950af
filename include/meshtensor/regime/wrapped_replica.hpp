// SPDX-License-Identifier: Apache-2.0
// A replica that looks different to a policy, in branches too.
#pragma once

#include "meshtensor/regime/training_replica.hpp"

namespace meshtensor::detail {

/// Refuses compressed changes of parameters from values that differ between replicas: the same change would leave them
/// as different as they were.
template <class Replica>
constexpr void require_common_start() {
  static_assert(Replica::starts_equal,
                "meshtensor G50: by_step: a compressed mean of parameters sends changes from values that all replicas "
                "have, so the policy must be the first one of mt::first_steps, or follow one that averages all "
                "gradients, as mt::synchronous does: let this policy stand outside of mt::compressed");
}

/// The base of replicas that replace functions of `Replica`. `Wrap` makes such a replica of the replica in a branch.
template <class Replica, class Wrap>
class wrapped_replica : public Replica {
 public:
  constexpr explicit wrapped_replica(Replica const& r) : Replica(r) {}

  template <class P, class What>
  constexpr void when(P const& condition, What const& what) const {
    Replica::when(condition, inside(what));
  }
  template <class P, class Then, class Otherwise>
  constexpr void either(P const& condition, Then const& then, Otherwise const& otherwise) const {
    Replica::either(condition, inside(then), inside(otherwise));
  }
  template <class P, class Then, class Otherwise>
  constexpr auto chosen(P const& condition, Then const& then, Otherwise const& otherwise) const {
    return Replica::chosen(condition, inside(then), inside(otherwise));
  }

 private:
  template <class What>
  static constexpr auto inside(What const& what) {
    return [&what](auto const& one) { return what(Wrap::of(one)); };
  }
};

}  // namespace meshtensor::detail

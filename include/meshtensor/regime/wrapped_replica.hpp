// SPDX-License-Identifier: Apache-2.0
// A replica that looks different to a policy, in branches too.
#pragma once

#include "meshtensor/regime/training_replica.hpp"

namespace meshtensor::detail {

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

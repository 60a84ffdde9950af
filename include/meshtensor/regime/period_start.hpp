// SPDX-License-Identifier: Apache-2.0
// The parameters at the start of a period.
#pragma once

#include "meshtensor/regime/training_replica.hpp"

namespace meshtensor::detail {

/// The values of parameters at the start of the period, as states of a replica.
struct period_start {
  /// Keeps the values before a step that begins a period. `of_period` says which parameters have this period.
  template <class Replica, class P, class Chosen>
  static constexpr void keep(Replica const& r, P const& begins, Chosen const& of_period) {
    r.when(begins, [&](auto const& one) {
      for (int i = 0; i < one.size(); ++i)
        if (of_period(i)) one.scope.update(state(one, one[i]), one[i].before);
    });
  }
  template <class Replica, class P>
  static constexpr void keep(Replica const& r, P const& begins) {
    keep(r, begins, [](int) { return true; });
  }
  /// The value that is kept for a parameter.
  template <class Replica, class Parameter>
  static constexpr auto of(Replica const& r, Parameter const& p) {
    return r.scope.next(state(r, p));
  }

 private:
  template <class Replica, class Parameter>
  static constexpr auto state(Replica const& r, Parameter const& p) {
    return r.scope.state_like("start", p.before);
  }
};

}  // namespace meshtensor::detail

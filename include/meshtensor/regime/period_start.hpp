// SPDX-License-Identifier: Apache-2.0
// The parameters at the start of a period, which all replicas have alike.
#pragma once

#include "meshtensor/regime/training_replica.hpp"

namespace meshtensor::detail {

/// Keeps the parameters at the start of each period of `Steps` steps.
template <int Steps>
struct period_start {
  template <class Replica>
  static constexpr void keep(Replica const& r) {
    r.when(r.begins(Steps), [](auto const& one) {
      for (int i = 0; i < one.size(); ++i) one.scope.update(state(one, one[i]), one[i].before);
    });
  }
  /// What is kept for a parameter.
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

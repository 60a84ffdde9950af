// SPDX-License-Identifier: Apache-2.0
// The parameters at the start of a period.
#pragma once

#include "meshtensor/regime/training_replica.hpp"

namespace meshtensor::detail {

/// A policy that keeps the parameters at the start of a period: `keep_start` does so, and `after_update` calls it. In
/// `mt::every_nth_step` a period may begin in a step of the other policy, so `by_step` calls it in every step.
template <class Policy, class Replica>
concept keeps_start = Policy::template keeps_start<Replica>;

/// The same, if all replicas keep equal ones.
template <class Policy, class Replica>
concept has_common_start = keeps_start<Policy, Replica> && !requires { Policy::start_of_each_replica; };

/// The values of parameters at the start of the period, as states of a replica.
struct period_start {
  /// Keeps the values before a step that begins a period, where `place` is 0. If a checkpoint had no such values, the
  /// period begins anew with the first step. `of_period` says which parameters have this period. If replicas may differ
  /// before the first period and `is_common` holds, all keep their mean.
  template <class Replica, class Chosen>
  static constexpr void keep(Replica const& r, number const& place, bool is_common, Chosen const& of_period) {
    static_assert(Replica::starts_kept_by != start_keeper::nobody,
                  "meshtensor G50: by_step: with mt::every_nth_step, the period of a policy begins in a step of the "
                  "other one, so a policy that calls after_update of mt::diloco or the like must derive from it");
    if constexpr (Replica::starts_kept_by == start_keeper::policy) {
      number fewest;
      for (int i = 0; i < r.size(); ++i)
        if (of_period(i)) {
          number const kept = r.scope.updates(path(r, r[i]));
          fewest = fewest.count == 0 ? kept : r.row(minimum(fewest, kept));
        }
      if (fewest.count == 0) return;
      auto const keep_in = [&](auto const& one, auto const& value) {
        for (int i = 0; i < one.size(); ++i)
          if (of_period(i)) set(one, one[i], value(one[i].before));
      };
      r.when(full(r.scope, minimum(place, fewest), f64) == 0,
             [&](auto const& one) { keep_in(one, [](auto const& p) { return p; }); });
      if constexpr (!Replica::first_period_starts_equal)
        if (is_common)
          r.when(full(r.scope, r.place_in_training(), f64) == 0,
                 [&](auto const& one) { keep_in(one, [&](auto const& p) { return one.mean(p); }); });
    }
  }
  template <class Replica>
  static constexpr void keep(Replica const& r, int period, bool is_common = true) {
    keep(r, r.place_in_period(period), is_common, [](int) { return true; });
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
  template <class Replica, class Parameter>
  static constexpr path_id path(Replica const& r, Parameter const& p) {
    return r.scope.graph_builder().add_path(r.scope.path_for(p.before), "start");
  }
  template <class Replica, class Parameter, class Value>
  static constexpr void set(Replica const& r, Parameter const& p, Value const& value) {
    auto const kept = state(r, p);
    if (r.scope.next(kept).id == kept.id) r.scope.update(kept, value, counted_update::alone(path(r, p)));
    else r.scope.amend(kept, value);
  }
};

}  // namespace meshtensor::detail

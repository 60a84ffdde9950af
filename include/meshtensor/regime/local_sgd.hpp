// SPDX-License-Identifier: Apache-2.0
// Local SGD: replicas train alone for some steps, and then take the mean of their parameters.
#pragma once

#include "meshtensor/regime/period_start.hpp"
#include "meshtensor/regime/training_replica.hpp"

namespace meshtensor {

/// A policy in which replicas take `Steps` steps alone, and then all get the mean of their parameters. It sends as
/// many bytes as synchronous training in one step of `Steps`. Moments of optimizers are not averaged. The member
/// `period` begins as `Steps`, and a policy of one's own may set it when it is traced, for example from an option.
///
/// layout  an all_reduce of the parameters in every step that ends a period, and nothing in the others
/// state   inside `compressed`, `start`, like each parameter
/// source  Stich, arXiv:1805.09767; McMahan et al., arXiv:1602.05629 (federated averaging of equal clients)
template <int Steps>
struct local_sgd {
  static_assert(Steps > 0, "meshtensor S23: local_sgd<steps> has at least one step in a period");
  int period = Steps;

  template <class Replica>
  static constexpr bool keeps_start = Replica::compresses;
  template <class Replica>
  constexpr void keep_start(Replica const& r) const {
    if constexpr (Replica::compresses) detail::period_start::keep(r, period);
  }
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    keep_start(r);
    r.when(r.ends(period), [](auto const& all) {
      for (int i = 0; i < all.size(); ++i)
        if constexpr (Replica::compresses)
          all.set(all[i], all.mean_from(detail::period_start::of(all, all[i]), all[i]));
        else all.set(all[i], all.mean(all[i].after));
    });
  }
};

}  // namespace meshtensor

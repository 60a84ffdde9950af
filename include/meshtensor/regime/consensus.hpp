// SPDX-License-Identifier: Apache-2.0
// The one model that replicas stand for: their mean.
#pragma once

#include "meshtensor/regime/in_f64.hpp"
#include "meshtensor/regime/replicas.hpp"

namespace meshtensor {
namespace detail {

/// Declares variables as the replicas do, and shows a program their means.
struct view_of_means final : regime_hooks {
  value_id weights = no_id;  // by which the parameters of the replicas count, if they do not count alike
  bool reads_weights = false;

  constexpr view_of_means(dim_id along, replica_sharing const& of_policy) {
    variables_along = replicas = along, sharing = of_policy;
  }
  constexpr value_id seen(builder& b, value_id v) override {
    if (reads_weights) return v;
    shape dims{};
    dims.add(variables_along);
    if (!is_float(b.m.values[v].type)) return reduce(b, reduction::max, v, dims);
    variable_id const which = variable_read(b, v);
    if (weights == no_id || which == no_id || !b.m.variables[which].trainable) return mean_of_replicas(b, v, dims);
    value_id const all = reduce(b, reduction::sum, scaled(b, v, weights), dims);
    return divided(b, all, reduce(b, reduction::sum, weights, dims));
  }
};

}  // namespace detail

/// A program that sees the mean of all replicas of `Training`: `struct evaluate_mean : mt::consensus<evaluate, train>
/// {};`, where `train` is a `replicas`. Use it to evaluate, to export or to save one model. `Program` declares its
/// parameters and states without the replicas' dim, and reads their means. If the policy keeps weights, as stochastic
/// gradient push does, the mean of a parameter is weighted by them. States of integers and bools are the largest of all
/// replicas. Inputs and outputs are those of `Program`.
///
/// layout  an all_reduce of each variable that the program reads, if the replicas are sharded
/// errors  G08 an update of a variable: a mean of replicas cannot be updated
template <class Program, class Training>
struct consensus {
  using program_inside = Program;

  constexpr void operator()(scope auto s) const {
    builder& b = s.graph_builder();
    using training = training_replica<decltype(s), std::remove_const_t<decltype(Training::replica)>>;
    auto const sharing = detail::sharing_of<typename Training::policy_type, training>();
    detail::view_of_means view(detail::dim_of(b, Training::replica), sharing);
    b.regime = &view;
    if constexpr (requires { Training::policy_type::weight(s); }) {
      auto const regime = s / "regime";
      auto const here = regime.enter();
      view.reads_weights = true;
      view.weights = Training::policy_type::weight(regime).id;
      view.reads_weights = false;
    }
    Program{}(s);
    b.regime = nullptr;
  }
};

}  // namespace meshtensor

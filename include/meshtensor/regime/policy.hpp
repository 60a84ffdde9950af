// SPDX-License-Identifier: Apache-2.0
// Finds the functions that a policy offers: a function for gradients, one for the parameters after the update, or both.
#pragma once

#include "meshtensor/regime/period_start.hpp"

namespace meshtensor::detail {

/// A policy whose function for gradients also takes the parameter, or does not need it.
template <class Policy, class Replica>
concept exchanges_gradients_of =
    requires(Policy const& p, Replica const& r, any_tensor<Replica::type> const& g) { p.gradient(r, g, g); };
template <class Policy, class Replica>
concept exchanges_gradients =
    exchanges_gradients_of<Policy, Replica> ||
    requires(Policy const& p, Replica const& r, any_tensor<Replica::type> const& g) { p.gradient(r, g); };
template <class Policy, class Replica>
concept changes_updates = requires(Policy const& p, Replica const& r) { p.after_update(r); };

/// The gradient by a parameter that an optimizer uses under a policy.
template <class Policy, class Replica, handle G>
requires exchanges_gradients<Policy, Replica>
constexpr G exchanged_gradient(Policy const& policy, Replica const& one, G const& g, G const& parameter) {
  if constexpr (exchanges_gradients_of<Policy, Replica>) return policy.gradient(one, g, parameter);
  else return policy.gradient(one, g);
}
/// The values that replicas share under a policy.
template <class Policy, class Replica>
constexpr replica_sharing sharing_of() {
  if constexpr (requires { Policy::template sharing<Replica>(); }) {
    return Policy::template sharing<Replica>();
  } else {
    constexpr bool exchanges = exchanges_gradients<Policy, Replica>, changes = changes_updates<Policy, Replica>;
    constexpr std::int64_t equal = exchanges && !changes ? replica_sharing::always : 0;
    constexpr bool start = has_common_start<Policy, Replica>;
    return {equal, equal, start, start, exchanges || changes};
  }
}
/// Lets a policy change the parameters that a step has updated, if it has a function for this.
template <class Policy, class Replica>
constexpr void change_updates(Policy const& policy, Replica const& one) {
  if constexpr (changes_updates<Policy, Replica>) policy.after_update(one);
}

}  // namespace meshtensor::detail

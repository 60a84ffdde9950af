// SPDX-License-Identifier: Apache-2.0
// What a policy sees of the training step of one replica: the parameters that the step has updated, and the other
// replicas.
#pragma once

#include "meshtensor/nn/optimizer.hpp"
#include "meshtensor/op/each.hpp"

namespace meshtensor {

/// A parameter that a training step updates: its value before the step, and the one that the step gives it.
template <dtype T>
struct updated_parameter {
  any_tensor<T> before, after;
};

/// One replica, as a policy sees it at the end of its training step.
template <scope S, dim_type D>
class training_replica {
 public:
  /// The dtype of the parameters.
  static constexpr dtype type = detail::parameters_of<S>::value;
  /// The scope of the policy's own states and numbers.
  S const scope;

  constexpr training_replica(S const& whole, D along) : scope(whole / "regime"), along_(along) {
    builder& b = whole.recorder();
    for (int i = 0; i < b.m.node_count; ++i) {
      node const& n = b.m.nodes[i];
      if (n.kind != primitive::read || n.region != b.region || !detail::is_parameter(b.m, b.m.result(n), type)) continue;
      value_id const seen = b.find_use(b.m.result(n));
      if (seen != no_id && b.find_write(b.region, variable_of(n)) != no_id) updated_.add(seen);
    }
  }

  /// How many parameters the step has updated.
  constexpr int size() const { return updated_.count; }
  constexpr updated_parameter<type> operator[](int i) const {
    any_tensor<type> const before(&scope.recorder(), updated_.at[i]);
    return {before, scope.next(before)};
  }
  /// Replaces the value that the step has given to a parameter.
  constexpr void set(updated_parameter<type> const& p, any_tensor<type> const& next) const {
    scope.amend(p.before, next);
  }

  /// The number of replicas.
  constexpr number count() const { return extent(along_); }
  /// The number of training steps before this one.
  constexpr number round() const { return scope.step(); }

  /// The mean of the values of all replicas.
  template <handle X>
  constexpr X mean(X const& x) const {
    return meshtensor::mean(across(x, along_), along_);
  }
  /// The value of the replica that stands `by` positions before this one on a ring of all.
  template <handle X>
  constexpr X from(X const& x, number const& by) const {
    return own(roll(across(x, along_), along_, by), along_);
  }

 private:
  D along_;
  id_list<> updated_{};
};

}  // namespace meshtensor

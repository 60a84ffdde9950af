// SPDX-License-Identifier: Apache-2.0
// Lets a training regime take part in the trace of a program that knows nothing of it.
#pragma once

#include "meshtensor/graph/replica_sharing.hpp"
#include "meshtensor/tensor/ids.hpp"

namespace meshtensor {

struct builder;

/// The changes that a regime makes while a program is traced. The defaults change nothing.
struct regime_hooks {
  dim_id variables_along = no_id;  // a dim that all variables have, in front of their own dims and those of eaches
  dim_id replicas = no_id;         // the dim of the replicas: a run may resume with another extent of it
  replica_sharing sharing{};       // what its policy lets replicas share

  bool shows_other_values = false;  // the program sees no values of variables, so it can update none

  /// The value that the program reads in place of `v`, the value of a variable with the dim `variables_along`. Both are
  /// of the entry.
  constexpr virtual value_id seen(builder&, variable_id, value_id v) { return v; }
  /// The variable in whose place the program reads `v`, or no_id if there is none.
  constexpr virtual variable_id variable_seen(value_id) const { return no_id; }
  /// The gradient by a parameter that an optimizer uses in place of `gradient`.
  constexpr virtual value_id exchanged(builder&, value_id /*parameter*/, value_id gradient) { return gradient; }
  /// Notes a norm whose mean and variance are those of one replica's batch. `average` is the value of the state that
  /// keeps the mean.
  constexpr virtual void normalizes_alone(builder&, value_id /*average*/) {}

 protected:
  // Nothing is deleted by this type. A virtual destructor of a class template is not yet defined where g++ 12 traces.
  ~regime_hooks() = default;
};

}  // namespace meshtensor

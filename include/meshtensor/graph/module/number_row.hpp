// SPDX-License-Identifier: Apache-2.0
// Rows of numbers: literals, numbers that are set by name, counts, and expressions of other numbers.
#pragma once

#include <cstdint>

#include "meshtensor/base/function.hpp"
#include "meshtensor/base/number_value.hpp"
#include "meshtensor/tensor/ids.hpp"

namespace meshtensor {

struct number_row {
  /// Some kinds count:
  /// - step: the complete steps of the program.
  /// - schedule: the same, until an optimizer takes up the number.
  /// - updates: the updates counted under a path.
  /// - most_updates: the highest count of a parameter that the optimizer with this scope updates in the entry.
  enum kind_t : std::uint8_t { literal, named, extent, step, seed, expression, schedule, updates, most_updates } kind;
  function f;          // expression
  id first;            // expression: a row; named: its name; extent: a dim; updates: a path; most_updates: a scope
  id second;           // expression: a row; named: the line of its declaration, which is no part of its identity;
                       // a count in mt::steps: the row of the number of steps in a call, else no_id
  number_value value;  // literal: its value; named: the value until it is set

  /// Whether it counts steps or updates. In mt::steps, it is the count for the first step of a call.
  constexpr bool is_count() const { return kind == step || kind >= schedule; }
};

}  // namespace meshtensor

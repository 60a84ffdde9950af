// SPDX-License-Identifier: Apache-2.0
// Types for the rules of operations, and for their evaluation. op/ defines the rules, and pass/ looks them up.
#pragma once

#include <cstdint>
#include <span>

#include "meshtensor/graph/builder.hpp"
#include "meshtensor/graph/declaration.hpp"
#include "meshtensor/graph/inference.hpp"
#include "meshtensor/graph/sharding.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor {

class unchanged_blocks;  // base/kept_copies.hpp

/// The values that change from step to step and from iteration to iteration.
struct run_context {
  number_value const* numbers;  // the module's table of numbers, evaluated
  std::uint64_t seed;
  std::uint64_t step;                           // of the program
  std::uint64_t iteration;                      // linear over all enclosing loops
  std::int64_t index;                           // along the dim of the innermost loop
  unchanged_blocks const* unchanged = nullptr;  // of the store, for this rank; null if not known
};

/// One node with its operands and results in memory.
struct evaluation {
  meshtensor::module const& m;
  node const& n;
  view const* operands;
  view const* results;
  run_context const& context;

  /// A number among the attributes, in f64. `exact_number` also has all digits of an integer, for `element_of`.
  double number(int attribute) const { return exact_number(attribute).real; }
  number_value exact_number(int attribute) const { return context.numbers[n.attribute[attribute]]; }
};

}  // namespace meshtensor

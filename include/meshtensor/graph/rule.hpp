// SPDX-License-Identifier: Apache-2.0
// Types for the rules of operations: how a partial reduction passes through an operation, how it is differentiated, how
// it is evaluated. op/ defines the rules, pass/ looks them up.
#pragma once

#include <cstdint>
#include <span>

#include "meshtensor/graph/builder.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor {

/// How an operation treats an operand that is a partial reduction.
enum class linearity : std::uint8_t {
  none,      // it must be reduced first
  alone,     // it may stay partial if all others are replicated
  together,  // it may stay partial if all operands are partial in the same way
};

/// The values that change from step to step and from iteration to iteration.
struct run_context {
  double const* numbers;  // the module's table of numbers, evaluated
  std::uint64_t seed;
  std::uint64_t step;       // of the program
  std::uint64_t iteration;  // linear over all enclosing loops
  std::int64_t index;       // along the dim of the innermost loop
};

/// One node with its operands and results in memory.
struct evaluation {
  meshtensor::module const& m;
  node const& n;
  view const* operands;
  view const* results;
  run_context const& context;

  double number(int attribute) const { return context.numbers[n.attribute[attribute]]; }
};

}  // namespace meshtensor

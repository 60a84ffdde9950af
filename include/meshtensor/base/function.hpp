// SPDX-License-Identifier: Apache-2.0
// The closed list of scalar functions, used by elementwise operations, numbers and fused kernels.
#pragma once

#include <cstdint>

namespace meshtensor {

enum class function : std::uint8_t {
  // one operand
  copy,
  stop_gradient,
  cast,
  negate,
  abs,
  sign,
  floor,
  exp,
  log,
  sqrt,
  rsqrt,
  sin,
  cos,
  tanh,
  sigmoid,
  erf,
  relu,
  logical_not,
  // two operands
  add,
  subtract,
  multiply,
  divide,
  modulo,
  power,
  maximum,
  minimum,
  equal,
  not_equal,
  less,
  less_equal,
  logical_and,
  logical_or,
  // three operands
  select,
  count_  // the number of functions
};

constexpr int arity(function f) { return f < function::add ? 1 : f < function::select ? 2 : 3; }

/// Comparisons return bool for every dtype.
constexpr bool is_comparison(function f) { return f >= function::equal && f <= function::less_equal; }
/// Functions that refuse integers and bools.
constexpr bool takes_only_floats(function f) { return f >= function::exp && f <= function::erf; }
constexpr bool is_logical(function f) {
  return f == function::logical_not || f == function::logical_and || f == function::logical_or;
}

constexpr char const* text_of(function f) {
  constexpr char const* names[] = {"copy",        "stop_gradient", "cast",     "negate",    "abs",    "sign",
                                   "floor",       "exp",           "log",      "sqrt",      "rsqrt",  "sin",
                                   "cos",         "tanh",          "sigmoid",  "erf",       "relu",   "logical_not",
                                   "add",         "subtract",      "multiply", "divide",    "modulo", "power",
                                   "maximum",     "minimum",       "equal",    "not_equal", "less",   "less_equal",
                                   "logical_and", "logical_or",    "select"};
  static_assert(sizeof(names) / sizeof(names[0]) == static_cast<int>(function::count_),
                "text_of lacks a function's name, or has one too many: the names stand in the order of the values");
  return names[static_cast<int>(f)];
}

}  // namespace meshtensor

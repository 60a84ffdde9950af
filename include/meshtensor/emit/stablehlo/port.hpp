// SPDX-License-Identifier: Apache-2.0
// An emitted StableHLO program: what it was written for, its text, and its signature, which says what each argument and
// result is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "meshtensor/graph/module.hpp"

namespace meshtensor {

/// An argument or a result of a StableHLO program.
struct stablehlo_port {
  enum kind_t : std::uint8_t { input, variable, number, seed, step, output } kind;
  id row;                   // input, output: the node; variable, number: the row of its table
  value_id value;           // of the module, for dtype, dims and layout; for a number: one of its constants, or no_id
  dtype type = dtype::i64;  // of a number without a constant

  dtype type_in(module const& m) const { return value == no_id ? type : m.values[value].type; }
};

/// What a text takes account of in the devices that it is for.
struct stablehlo_options {
  /// They have arithmetic in f64. Those that emulate it get the sums in f64 of f32 and bf16, such as the statistics of
  /// norms, in f32 parts.
  bool has_f64 = true;
};

struct stablehlo_program {
  std::string text;
  std::vector<stablehlo_port> arguments, results;
  std::vector<node_id> nodes;  // by line of the text: the node that it was written for, or no_id
};

}  // namespace meshtensor

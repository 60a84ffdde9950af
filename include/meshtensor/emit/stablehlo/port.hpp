// SPDX-License-Identifier: Apache-2.0
// An emitted StableHLO program: its text, the node of each line, and the meaning of each argument and result.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "meshtensor/graph/module.hpp"

namespace meshtensor {

/// An argument or a result of a StableHLO program.
struct stablehlo_port {
  enum kind_t : std::uint8_t { input, variable, number, seed, step, output } kind;
  id row;                   // the node of an input or output, or the row of a variable or number in its table
  value_id value;           // for dtype, dims and layout; for a number, one of its constants or no_id
  dtype type = dtype::i64;  // of a number without a constant

  dtype type_in(module const& m) const { return value == no_id ? type : m.values[value].type; }
};

/// The properties of the devices for which a text is written.
struct stablehlo_options {
  /// Whether the devices have arithmetic in f64. If they emulate it, the sums in f64 of f32 and bf16, for example the
  /// statistics of norms, are made of parts in f32.
  bool has_f64 = true;
};

struct stablehlo_program {
  std::string text;
  std::vector<stablehlo_port> arguments, results;
  std::vector<node_id> nodes;  // by line of the text: the node for which it was written, or no_id
};

}  // namespace meshtensor

// SPDX-License-Identifier: Apache-2.0
// The closed list of primitives: the kinds of node in a graph. Every other operation is composed of them.
#pragma once

#include <cstdint>

#include "meshtensor/base/reduction.hpp"

namespace meshtensor {

enum class primitive : std::uint8_t {
  nothing,
  // inputs and outputs of an entry
  input,   // attribute 0: its name
  read,    // attribute 0: the variable; its value before this step
  write,   // operand: the next value of the variable in attribute 0; 1: the path that counts it, plus 1; 0: none
  output,  // operand: returned under the name in attribute 0; 1: whether the path belongs to the name
  watch,   // operand: the watched value, in any loop; attribute 0: its name, 1: whether its gradient is watched instead
  // inside a region
  argument,   // attribute 0: its place in the region's list
  iteration,  // index along the dim of the enclosing loop, i64
  // without operands
  constant,  // attribute 0: a row of the table of numbers
  iota,      // position along the one dim of the result
  random,    // function: a distribution; from (seed, identity, step, iteration, global index)
  // elementwise: `function` says which; operands broadcast by name
  elementwise,
  // contraction and reduction: the result's dims are those that are kept
  einsum,
  reduce,  // function: a reduction
  argmax,  // position of the greatest element along attribute 0, the lowest on a tie, i64
  // movement
  broadcast,
  transpose,
  rename,   // attribute 0: from, 1: to
  reshape,  // merges or splits neighbouring dims
  slice,    // attribute 0: from, 1: to, 2: first index (number)
  pad,      // attribute 0: from, 1: to, 2: index of the first element (number), 3: the padding value (number)
  reshard,  // the same value, sharded as rows of `asked` say: attribute 1 rows from attribute 0 on
  concat,   // along attribute 0 of the first and attribute 1 of the second, into attribute 2
  put,  // operand 0, overwritten with operand 1 along attribute 0 at index attribute 1 (number), or at the indices in
        // operand 2
  // lookup
  gather,       // rows of operand 0 along attribute 0, at operand 1; out of range gives zeros
  scatter_add,  // operand 0 added to zeros with dim attribute 0, at operand 1
  // along one dim
  cumulative_sum,  // along attribute 0; 1: whether without the element itself; 2: whether from the last to the first
  argsort,         // positions along attribute 0 in ascending order, i64; 1: whether in descending order
  stack,           // of the operands along attribute 0, a new dim
  call,            // a user's C++ function: attribute 0: a row of the table of calls
  extension,       // an operation declared outside of the library: function: a row of the table of extensions
  // structure
  gradient,    // operands: the loss, then the values it is differentiated by; replaced by `differentiate`
  repeat,      // see graph/module.hpp, loop
  while_loop,  // regions: condition, body
  cond,        // regions: then, otherwise
  composite,   // attribute 0: its name; 2: whether the device has its own implementation; regions: body and, if it has
               // its own, gradient
  // communication, inserted by `partition`; attribute 0: mask of axes
  all_reduce,      // attribute 3: whether it is waited for after its loop; set by `overlap`
  reduce_scatter,  // attribute 1: dim
  all_gather,      // attribute 1: dim
  all_to_all,      // attribute 1: dim that becomes sharded, 2: dim that becomes unsharded
  local_slice,     // attribute 1: dim; no bytes move
  wait,            // operands: the result of a started collective, the collective's operand; made by `overlap`
  // after `fuse`
  kernel,  // region: the fused nodes
  count_   // the number of primitives
};

/// Whether a device computes such nodes: not inputs or outputs, structure or communication.
constexpr bool is_computed(primitive p) {
  return p == primitive::iteration || (p >= primitive::constant && p < primitive::gradient);
}

/// Whether computing a result again costs only arithmetic and data movement: it may be recomputed instead of saved.
constexpr bool is_arithmetic(primitive p) {
  return p == primitive::elementwise || p == primitive::broadcast || p == primitive::rename ||
         p == primitive::transpose || p == primitive::constant || p == primitive::iota || p == primitive::iteration;
}

constexpr char const* text_of(primitive p) {
  // clang-format off
  constexpr char const* names[] = {
      "nothing", "input", "read", "write", "output", "watch", "argument", "iteration", "constant", "iota",
      "random", "elementwise", "einsum", "reduce", "argmax", "broadcast", "transpose", "rename", "reshape",
      "slice", "pad", "reshard", "concat", "put", "gather", "scatter_add",
      "cumulative_sum", "argsort", "stack", "call", "extension", "gradient", "repeat",
      "while_loop", "cond", "composite", "all_reduce", "reduce_scatter", "all_gather", "all_to_all",
      "local_slice", "wait", "kernel"};
  // clang-format on
  static_assert(sizeof(names) / sizeof(names[0]) == static_cast<int>(primitive::count_));
  return names[static_cast<int>(p)];
}

constexpr bool is_collective(primitive p) { return p >= primitive::all_reduce && p <= primitive::all_to_all; }

enum class distribution : std::uint8_t { uniform, normal };

}  // namespace meshtensor

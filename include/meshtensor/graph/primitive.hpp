// SPDX-License-Identifier: Apache-2.0
// The closed list of primitives, which are the kinds of nodes in a graph. Every other operation is composed of them.
#pragma once

#include <cstdint>

#include "meshtensor/base/reduction.hpp"

namespace meshtensor {

/// The kind of a node. The attributes of each kind are in graph/attributes.hpp, and those of operations in op/.
enum class primitive : std::uint8_t {
  nothing,
  // inputs and outputs of an entry
  input,
  read,    // the value of a variable before this step
  write,   // operand: the next value of a variable
  output,  // operand: returned under a name
  watch,   // operand: the watched value, in any loop
  // inside a region
  argument,   // stands for an operand of the region's owner
  iteration,  // index along the dim of the enclosing loop, i64
  // without operands
  constant,  // a number
  iota,      // position along the one dim of the result
  random,    // function: a distribution; from (seed, identity, step, iteration, global index)
  // elementwise: `function` names the scalar function, and operands broadcast by name
  elementwise,
  // contraction and reduction: the dims of the result are those that are kept
  einsum,
  grouped_einsum,  // with a mask of groups, which operand 2 numbers
  reduce,          // function: a reduction
  conv,            // of tensors over which windows move; function: which of the three is the result
  pool,            // of the elements in windows that move; function: a step of pools
  argmax,          // position of the greatest element along a dim, the lowest position on a tie, i64
  // movement
  broadcast,
  transpose,
  rename,   // a dim
  reshape,  // merges or splits neighbouring dims
  slice,    // a range of a dim, which becomes another dim
  pad,      // the opposite: a dim becomes a range of another dim
  reshard,  // the same value, but sharded as rows of `requests` say
  concat,   // a dim of the first operand and a dim of the second one become one
  put,      // operand 0, overwritten with operand 1 along a dim at a number, or at the indices in operand 2
  // lookup
  gather,       // rows of operand 0 along a dim, at operand 1, with zeros if it is out of range
  scatter_add,  // operand 0 added to zeros along a dim, at operand 1
  // movement to the ranks that hold the rows' groups
  all_to_all_rows,  // function: a row_step
  // movement of rows to the rows that name them
  permute,  // rows of operand 0 along a dim, at operand 1, with zeros if it is out of range
  // along one dim
  cumulative_sum,
  argsort,    // positions in ascending or descending order, i64
  shift,      // function: a kind of shift, with ends, around them, or reversed
  stack,      // of the operands along a new dim
  call,       // a user's C++ function
  extension,  // an operation declared outside of the library; function: a row of the table of extensions
  // structure
  hide,       // in `each`: the slice that one index sees, or a tensor without the dim; replaced by `widen`
  show,       // the values of all indices of `each`, along the dim; replaced by `widen`
  gradient,   // operands: the loss, then the values by which it is differentiated; replaced by `differentiate`
  repeat,     // region: body
  composite,  // regions: the body and, if it has its own, the gradient
  // communication, inserted by `partition`
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  move,         // function: axes and a kind of shift; from one placement to another
  move_rows,    // function: a row_move; rows, as operand 1 says
  local_slice,  // no bytes move
  wait,         // operands: the result of a started collective, the collective's operand; made by `overlap_collectives`
  // after `fuse`
  kernel,  // region: the fused nodes
  count_   // the number of primitives
};

/// The operations are the primitives that a device computes, that is, neither inputs and outputs nor structure nor
/// communication.
inline constexpr primitive first_operation = primitive::iteration, last_operation = primitive::extension;
constexpr bool is_computed(primitive p) { return p >= first_operation && p <= last_operation; }

/// Whether computing a result again costs only arithmetic and data movement, so that it may be recomputed instead of
/// saved.
constexpr bool is_arithmetic(primitive p) {
  return p == primitive::elementwise || p == primitive::broadcast || p == primitive::rename ||
         p == primitive::transpose || p == primitive::constant || p == primitive::iota || p == primitive::iteration;
}

constexpr char const* text_of(primitive p) {
  // clang-format off
  constexpr char const* names[] = {
      "nothing", "input", "read", "write", "output", "watch", "argument", "iteration", "constant", "iota",
      "random", "elementwise", "einsum", "grouped_einsum", "reduce", "conv", "pool", "argmax", "broadcast",
      "transpose", "rename", "reshape",
      "slice", "pad", "reshard", "concat", "put", "gather", "scatter_add", "all_to_all_rows", "permute",
      "cumulative_sum", "argsort", "shift", "stack", "call", "extension", "hide", "show", "gradient",
      "repeat", "composite", "all_reduce", "reduce_scatter", "all_gather", "all_to_all",
      "move", "move_rows", "local_slice", "wait", "kernel"};
  // clang-format on
  static_assert(sizeof(names) / sizeof(names[0]) == static_cast<int>(primitive::count_),
                "text_of lacks a primitive's name, or has one too many: the names stand in the order of the values");
  return names[static_cast<int>(p)];
}

constexpr bool is_collective(primitive p) { return p >= primitive::all_reduce && p <= primitive::move_rows; }

enum class distribution : std::uint8_t { uniform, normal };

}  // namespace meshtensor

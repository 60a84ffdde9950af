// SPDX-License-Identifier: Apache-2.0
// One instruction of a rank's step. A step is a list of instructions, which is the same for every rank.
#pragma once

#include "meshtensor/graph/module.hpp"

namespace meshtensor {

/// The effect of an instruction on its values `from` and `to`.
enum class instruction_kind : std::uint8_t {
  bind_input,      // `to` is the memory in which the caller feeds the input
  bind_variable,   // `to` is the store's memory of variable `from`
  bind_slice,      // `to` is the slice of `from` that belongs to the iteration
  bind_buffer,     // `to` is its first buffer in iterations of even index, otherwise `bytes` behind it
  bind_window,     // `to` is a strided view of `from`, which begins where the node's numbers say
  launch,          // runs a kernel of the device. `to` is the kernel's number in a list of all launches
  copy,            // `from` to `to`
  copy_to_slice,   // `from` to the slice of `to` that belongs to the iteration
  copy_to_store,   // `from` to the store's memory of variable `to`
  copy_to_output,  // `from` to the memory that the caller gives for the output, if there is any
  copy_part,       // this rank's part of `from` to `to`
  zero,            // fills `to` with zeros
  accumulate,      // adds `from` to `to`
  start,           // starts a collective from `from` to `to`
  wait,            // waits for the collective of node `from`
  collective,      // starts a collective and waits for it
  begin_loop,      // repeats the instructions up to its end `trips` times, or while its index is below `from`, if given
  begin_first,     // runs the instructions up to its end for the first of the iterations, before the loop
  begin_next,      // runs the instructions up to its end for the next iteration, if there is one
  begin_call,      // the instructions up to its end are those of one composite. It only gives them a name
  end,             // of the innermost loop or call
};

constexpr char const* text_of(instruction_kind kind) {
  constexpr char const* texts[] = {
      "bind_input",    "bind_variable", "bind_slice",     "bind_buffer", "bind_window", "launch",     "copy",
      "copy_to_slice", "copy_to_store", "copy_to_output", "copy_part",   "zero",        "accumulate", "start",
      "wait",          "collective",    "begin_loop",     "begin_first", "begin_next",  "begin_call", "end"};
  return texts[static_cast<int>(kind)];
}

/// Whether the instructions up to an `end` belong to this one.
constexpr bool begins(instruction_kind kind) {
  return kind >= instruction_kind::begin_loop && kind <= instruction_kind::begin_call;
}

struct instruction {
  instruction_kind kind;
  node_id node;        // the node that it belongs to. A loop's copies and sums belong to the loop
  id from, to;         // values. In bind_variable and copy_to_store, one of them is a variable. In launch, `to` is a
                       // number of its own. In wait, `from` is the node of the awaited collective
  std::int64_t bytes;  // of data that is copied, zeroed, added or bound as a slice, on the first rank. No rank has more
  std::int64_t trips;  // of a loop, and of begin_first and begin_next in it
  bool reversed;       // a loop from the last index to the first

  constexpr value_id from_value() const { return static_cast<value_id>(from); }
  constexpr value_id to_value() const { return static_cast<value_id>(to); }
  constexpr bool operator==(instruction const&) const = default;
};

/// The index after an instruction of a list and all instructions that belong to it.
template <class List>
constexpr std::size_t behind(List const& instructions, std::size_t at) {
  int open = 0;
  do open += begins(instructions[at].kind) - (instructions[at].kind == instruction_kind::end);
  while (++at, open != 0);
  return at;
}

}  // namespace meshtensor

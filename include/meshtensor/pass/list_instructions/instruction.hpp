// SPDX-License-Identifier: Apache-2.0
// One instruction of a processor's step. A step is a list of them, the same for every processor.
#pragma once

#include "meshtensor/graph/module.hpp"

namespace meshtensor {

/// What an instruction does with its values `from` and `to`.
enum class instruction_kind : std::uint8_t {
  bind_input,      // `to` lies where the caller feeds the input
  bind_variable,   // `to` lies in the store's memory of variable `from`
  bind_slice,      // `to` is the slice of `from` that belongs to the iteration
  bind_turn,       // `to` lies in its first place in even iterations, else `bytes` behind it
  bind_window,     // `to` is a strided view of `from`, which begins where the node's numbers say
  launch,          // runs a kernel of the device; `to` numbers the kernels of a list
  copy,            // `from` to `to`
  copy_to_slice,   // `from` to the slice of `to` that belongs to the iteration
  copy_to_store,   // `from` to the store's memory of variable `to`
  copy_to_output,  // `from` to where the caller wants the output, if anywhere
  copy_part,       // this processor's part of `from` to `to`
  zero,            // fills `to` with zeros
  accumulate,      // adds `from` to `to`
  start,           // starts a collective from `from` to `to`
  wait,            // waits for the collective of node `from`
  exchange,        // starts a collective and waits for it
  begin_loop,      // repeats what follows up to its end `trips` times, or while its index is less than `from`, if any
  begin_first,     // what follows up to its end is done for the first of the iterations, before the loop
  begin_next,      // what follows up to its end is done for the next iteration, if there is one
  begin_call,      // what follows up to its end is one composite; says no more than its name
  end,             // of the innermost loop or call
};

constexpr char const* text_of(instruction_kind kind) {
  constexpr char const* texts[] = {
      "bind_input",    "bind_variable", "bind_slice",     "bind_turn",   "bind_window", "launch",     "copy",
      "copy_to_slice", "copy_to_store", "copy_to_output", "copy_part",   "zero",        "accumulate", "start",
      "wait",          "exchange",      "begin_loop",     "begin_first", "begin_next",  "begin_call", "end"};
  return texts[static_cast<int>(kind)];
}

/// Whether what follows up to an `end` belongs to the instruction.
constexpr bool begins(instruction_kind kind) {
  return kind >= instruction_kind::begin_loop && kind <= instruction_kind::begin_call;
}

struct instruction {
  instruction_kind kind;
  node_id node;  // the node that it belongs to; of a loop's copies and sums: the loop
  id from, to;   // values; bind_variable and copy_to_store: one is a variable; launch: `to` is a number of its own;
                 // wait: `from` is the node that it waits for
  std::int64_t bytes;  // of what is copied, zeroed, added or bound as a slice, on the first processor: none has more
  std::int64_t trips;  // of a loop, and of begin_first and begin_next in it
  bool reversed;       // a loop from the last index to the first

  constexpr value_id from_value() const { return static_cast<value_id>(from); }
  constexpr value_id to_value() const { return static_cast<value_id>(to); }
  constexpr bool operator==(instruction const&) const = default;
};

/// The place behind an instruction of a list and all that belongs to it.
template <class List>
constexpr std::size_t behind(List const& instructions, std::size_t at) {
  int open = 0;
  do open += begins(instructions[at].kind) - (instructions[at].kind == instruction_kind::end);
  while (++at, open != 0);
  return at;
}

}  // namespace meshtensor

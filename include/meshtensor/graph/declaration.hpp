// SPDX-License-Identifier: Apache-2.0
// Declares a primitive: the facts that hold for all of its nodes, as data that passes read. Every primitive has one
// declaration, in its struct of rules (op/table.hpp).
#pragma once

#include "meshtensor/graph/module.hpp"

namespace meshtensor {

/// The meaning of an attribute of a node.
enum class attribute_kind : std::uint8_t {
  unused,
  dim,       // a row of the table of dims
  number,    // a row of the table of numbers
  place,     // a row of the table of numbers: a position along a dim, or a step between positions
  name,      // a row of the table of names
  variable,  // a row of the table of variables
  path,      // a row of the table of paths, plus 1; 0 if there is none
  call,      // a row of the table of calls
  request,   // the first row of a request in the table `requests`; the next attribute is the number of its rows
  windows,   // the first row of some in the table of windows; the next attribute is their number
  axes,      // a mask of mesh axes
  count,     // a number of operands, results or rows, or a position in a list
  flag,      // 0 or 1
};

struct attribute_declaration {
  attribute_kind kind = attribute_kind::unused;
  bool optional = false;  // may be no_id, for an attribute without a value

  constexpr bool is_number() const { return kind == attribute_kind::number || kind == attribute_kind::place; }
};

/// The buffer that holds a primitive's result.
enum class buffer_use : std::uint8_t {
  own,     // one of its own
  shared,  // the buffer of operand 0, because the result has the same elements in the same order
  window,  // the buffer of operand 0, as a strided view, if all readers take strides. Otherwise its own, for a
           // copy. The attributes are those of a strided_window (graph/attributes.hpp)
  update,  // that of operand 0, overwritten in part, if no later node reads operand 0. Otherwise one of its own
};

/// The role of a node in a fused kernel.
enum class fusion_role : std::uint8_t {
  none,       // it is never in a kernel
  number,     // a constant
  position,   // the index along the one dim of its result
  random,     // a random number for each element
  function,   // a scalar function of its operands
  reduction,  // over the dims that its result lacks
  broadcast,  // no step, because the kernel reads the operand with other strides
  transpose,  // the same, if operand and result have the same last dim
};

/// The kind of arithmetic of a node. It is used for costs, profiles and bounds of rounding errors.
enum class work_kind : std::uint8_t {
  movement,  // none
  function,  // a scalar function of each element
  sum,       // sums of elements; the greatest element bounds each term
  product,   // sums of products; the product of the operands' greatest elements bounds each term
};

/// A family of products that pass/join_epilogues.hpp joins with the operations behind them. A device says which family
/// it runs so, and a primitive says to which family it belongs.
enum class epilogues : std::uint8_t { none, of_convolutions, of_products };

struct count_range {
  std::uint8_t least, most;
  static constexpr std::uint8_t any = 255;  // as many as a node may have
  constexpr bool has(int n) const { return n >= least && (n <= most || most == any); }
};

struct declaration {
  count_range operands{1, 1}, results{1, 1}, regions{0, 0};
  attribute_declaration attributes[max_attributes]{};
  std::uint8_t functions = 1;  // node::function is below it
  bool effect = false;         // its nodes have node::effect, so no pass removes or merges them
  bool entry_only = false;     // its nodes are in entries only, not in loops or other regions
  buffer_use buffer = buffer_use::own;
  fusion_role fusion = fusion_role::none;
  work_kind work = work_kind::movement;
  bool takes_strides = false;         // its operands may have any strides
  epilogues joins = epilogues::none;  // by pass/join_epilogues.hpp, nodes of function 0
  /// Text that the printer adds after the operands. `{0}` stands for attribute 0. A part in `[…]` is left out if there
  /// is no value for the attribute in it.
  char const* text = "";

  constexpr bool has_places() const {
    for (attribute_declaration const& a : attributes)
      if (a.kind == attribute_kind::place) return true;
    return false;
  }
  constexpr bool fits(node const& n) const {
    return operands.has(n.operands.count) && results.has(n.results.count) && regions.has(n.regions.count);
  }
};

}  // namespace meshtensor

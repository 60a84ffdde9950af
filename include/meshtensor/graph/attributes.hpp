// SPDX-License-Identifier: Apache-2.0
// Names the attributes of nodes that are not operations: inputs and outputs, owners of regions, and collectives.
// Operations have such structs in their files in op/.
#pragma once

#include "meshtensor/base/shifted.hpp"
#include "meshtensor/graph/module.hpp"

namespace meshtensor {

/// The attributes of a node as it stores them, in `max_attributes` slots. The structs below and the structs in op/ name
/// the content of each slot, in the order of the primitive's declaration. `of` reads the attributes of a node, and
/// `packed` gives the slots of a node to be made.
struct attributes {
  id at[max_attributes];
};

constexpr void set_attributes(node& n, attributes const& a) {
  for (int i = 0; i < max_attributes; ++i) n.attribute[i] = a.at[i];
}
constexpr attributes attributes_of(node const& n) {
  attributes a{};
  for (int i = 0; i < max_attributes; ++i) a.at[i] = n.attribute[i];
  return a;
}

// ---- inputs and outputs ----

/// The name of an input, an output, a watch or a composite, as a row of the table of names. It is in the same slot for
/// all of them.
constexpr name_id name_of(node const& n) { return static_cast<name_id>(n.attribute[0]); }

/// The variable of a read or a write, as a row of the table of variables.
constexpr variable_id variable_of(node const& n) { return static_cast<variable_id>(n.attribute[0]); }

struct input_attributes {
  name_id name;

  constexpr attributes packed() const { return {{name}}; }
};

struct output_attributes {
  name_id name;
  bool with_path;  // whether the path belongs to the name

  static constexpr output_attributes of(node const& n) { return {name_of(n), n.attribute[1] != 0}; }
  constexpr attributes packed() const { return {{name, with_path}}; }
};

struct watch_attributes {
  name_id name;
  bool of_gradient;  // whether the gradient of its operand is watched instead

  static constexpr watch_attributes of(node const& n) { return {name_of(n), n.attribute[1] != 0}; }
  constexpr attributes packed() const { return {{name, of_gradient}}; }
};

struct read_attributes {
  variable_id variable;

  constexpr attributes packed() const { return {{variable}}; }
};

struct write_attributes {
  variable_id variable;
  path_id counted_under;  // the path under which it counts as an update, no_id if it does not count

  static constexpr write_attributes of(node const& n) {
    return {variable_of(n), static_cast<path_id>(n.attribute[1] - 1)};
  }
  constexpr attributes packed() const { return {{variable, static_cast<id>(counted_under + 1)}}; }
};

/// The path under which a write counts as an update, or no_id if it does not count.
constexpr path_id counted_under(node const& write) { return write_attributes::of(write).counted_under; }

// ---- regions and their owners ----

/// The position of an argument in its region's list.
constexpr id place_of(node const& argument) { return argument.attribute[0]; }
constexpr void set_place(node& argument, int place) { argument.attribute[0] = static_cast<id>(place); }

/// The operands and results of a loop by kind.
///
/// A repeat runs its body once for every index of a dim. A repeat that may end early runs it only for the indices below
/// its first carry, an i64 without dims. This number is read before each iteration.
/// operands   carries, then stacked inputs (the body sees slice l of their leading dim), then invariants
/// arguments  the same, in the same order
/// returns    next carries, then terms of sums, then slices of stacked outputs
/// results    last carries, then sums over all iterations, then stacked outputs (the loop's dim leads)
struct loop {
  dim_id dim;
  int carries, stacked, sums;
  bool reversed;    // from the last index to the first
  bool ends_early;  // in a reversed loop the first carry is constant

  static constexpr loop of(node const& n) {
    return {static_cast<dim_id>(n.attribute[0]), n.attribute[1],           n.attribute[2], n.attribute[3] >> 2,
            (n.attribute[3] & 1) != 0,           (n.attribute[3] & 2) != 0};
  }
  constexpr attributes packed() const {
    return {{dim, static_cast<id>(carries), static_cast<id>(stacked),
             static_cast<id>(4 * sums + (ends_early ? 2 : 0) + (reversed ? 1 : 0))}};
  }
  constexpr void store(node& n) const { set_attributes(n, packed()); }
};

struct composite_attributes {
  name_id name;
  int operands;  // their number
  bool whole;    // whether the device has its own implementation

  static constexpr composite_attributes of(node const& n) { return {name_of(n), n.attribute[1], n.attribute[2] != 0}; }
  constexpr attributes packed() const { return {{name, static_cast<id>(operands), whole}}; }
};

/// Whether the device runs a composite by an implementation of its own. In this case the body is only a definition and
/// needs no memory.
constexpr bool is_whole(node const& n) { return n.kind == primitive::composite && composite_attributes::of(n).whole; }

struct kernel_attributes {
  shape space;  // the dims of its loops, its vector dim last; two of them share a slot

  static constexpr kernel_attributes of(node const& n) {
    kernel_attributes k{};
    for (int i = 0, d = 0; i < shape::capacity && (d = n.attribute[i / 2] >> (i % 2 * 8) & 0xff) != 0; ++i)
      k.space.add(d - 1);
    return k;
  }
  constexpr attributes packed() const {
    attributes a{};
    for (int i = 0; i < space.count; ++i) a.at[i / 2] = static_cast<id>(a.at[i / 2] | (space.at[i] + 1) << (i % 2 * 8));
    return a;
  }
};

// ---- functions of the user ----

struct call_attributes {
  id call;  // a row of the table of calls

  static constexpr call_attributes of(id const* slots) { return {slots[0]}; }
  static constexpr call_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{call}}; }
};

/// The function of a call, as a row of the table of calls.
constexpr id call_of(node const& n) { return call_attributes::of(n).call; }

// ---- communication ----

/// The rows of the table `requests` in which a reshard requests a layout.
struct reshard_attributes {
  id first;
  int count;

  static constexpr reshard_attributes of(node const& n) { return {n.attribute[0], n.attribute[1]}; }
  constexpr attributes packed() const { return {{first, static_cast<id>(count)}}; }
};

/// The general collective for movement. It moves elements from the operand's placement to the placement of the result,
/// and may shift them along a dim (base/shifted.hpp).
struct move_attributes {
  dim_id from, to;   // the dim of the operand that is shifted, and its name in the result
  number_id first;   // the position at which the result begins
  number_id around;  // the value of elements that have no source
  unsigned axes;     // a mask of the mesh axes whose ranks exchange
  shift_kind how;
  number_id step = no_id;  // for `cut` and `spread`; no_id stands for 1

  static constexpr move_attributes of(node const& n) {
    return {static_cast<dim_id>(n.attribute[0]),
            static_cast<dim_id>(n.attribute[1]),
            static_cast<number_id>(n.attribute[2]),
            static_cast<number_id>(n.attribute[3]),
            n.function & 63u,
            static_cast<shift_kind>(n.function >> 6),
            static_cast<number_id>(n.attribute[4])};
  }
  constexpr attributes packed() const { return {{from, to, first, around, step}}; }
  constexpr std::uint8_t function() const { return static_cast<std::uint8_t>(axes | static_cast<unsigned>(how) << 6); }
  static_assert(max_axes <= 6);
};

/// The exchange of rows. Each rank sends runs of the rows of its block to every other rank of the axes: one run for
/// each group that the receiver holds. Operand 1 [ranks, groups] has the lengths of the runs.
struct move_rows_attributes {
  unsigned axes;    // a mask of the mesh axes whose ranks exchange
  dim_id from, to;  // the rows of the operand and of the result
  dim_id groups;    // the second dim of operand 1
  dim_id holders;
  bool back;  // whether rows return to the ranks that sent them

  static constexpr move_rows_attributes of(node const& n) {
    return {n.attribute[0],
            static_cast<dim_id>(n.attribute[1]),
            static_cast<dim_id>(n.attribute[2]),
            static_cast<dim_id>(n.attribute[3]),
            static_cast<dim_id>(n.attribute[4]),
            n.function != 0};
  }
  constexpr attributes packed() const { return {{static_cast<id>(axes), from, to, groups, holders}}; }
};

/// The attributes of a node whose result may be a view of operand 0 (buffer_use::window). Every `step`-th element of
/// its dim `from` becomes an element of the dim `to`.
struct strided_window {
  dim_id from, to;  // dims
  number_id first;  // the position of the window along `from`: a row of the table of numbers
  number_id step;   // likewise; no_id stands for 1

  static constexpr strided_window of(id const* slots) {
    return {static_cast<dim_id>(slots[0]), static_cast<dim_id>(slots[1]), static_cast<number_id>(slots[2]),
            static_cast<number_id>(slots[3])};
  }
  static constexpr strided_window of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{from, to, first, step}}; }
};

/// Whether a node is a move that shifts elements. It may be a move within one rank.
constexpr bool shifts(node const& n) { return n.kind == primitive::move && move_attributes::of(n).first != no_id; }

/// The mesh axes of a collective or a local_slice, as a mask.
constexpr unsigned axes_of_collective(node const& n) {
  return n.kind == primitive::move ? move_attributes::of(n).axes : n.attribute[0];
}

/// A collective, or a local_slice.
struct collective_attributes {
  unsigned axes;                  // a mask of mesh axes
  dim_id split = no_id;           // the dim that becomes sharded: reduce_scatter, all_to_all, local_slice
  dim_id join = no_id;            // the dim that becomes unsharded: all_gather, all_to_all
  bool ends_behind_loop = false;  // all_reduce: whether its wait is after its loop; set by `overlap`
  bool starts_ahead = false;      // all_gather: whether it starts one iteration ahead; set by `overlap`

  static constexpr collective_attributes of(node const& n) {
    bool const joins_only = n.kind == primitive::all_gather;
    return {axes_of_collective(n), joins_only ? no_id : static_cast<dim_id>(n.attribute[1]),
            static_cast<dim_id>(n.attribute[joins_only ? 1 : 2]), !joins_only && n.attribute[3] != 0,
            joins_only && n.attribute[2] != 0};
  }
  /// An all_gather or a reduce_scatter may act on a slice along the dim of the loop around it, which the slice lacks.
  /// For such a node this gives the dim, and otherwise no_id. The all_gather gives all ranks the slice of the rank that
  /// holds it. The reduce_scatter gives this rank the sum of the slices.
  static constexpr dim_id of_slices(module const& m, node const& n) {
    collective_attributes const c = of(n);
    dim_id const along = n.kind == primitive::all_gather       ? c.join
                         : n.kind == primitive::reduce_scatter ? c.split
                                                               : dim_id{no_id};
    return along == no_id || m.operand_value(n, 0).dims.has(along) ? dim_id{no_id} : along;
  }
  constexpr attributes packed() const {
    if (split == no_id && join != no_id) return {{static_cast<id>(axes), join, starts_ahead}};
    return {{static_cast<id>(axes), split, join, ends_behind_loop}};
  }
};

/// Whether an all_gather starts one iteration ahead. It gathers one slice of a stacked operand for the body.
constexpr bool starts_ahead(node const& n) {
  return n.kind == primitive::all_gather && collective_attributes::of(n).starts_ahead;
}
/// Whether an all_reduce is waited for after its loop. It reduces one slice of a stacked output, in place. Each
/// iteration's all_reduce is also waited for when the next iteration's starts.
constexpr bool ends_behind_loop(node const& n) {
  return n.kind == primitive::all_reduce && collective_attributes::of(n).ends_behind_loop;
}

}  // namespace meshtensor

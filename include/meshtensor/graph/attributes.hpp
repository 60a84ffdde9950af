// SPDX-License-Identifier: Apache-2.0
// Names the attributes of nodes that are not operations: inputs and outputs, owners of regions, and collectives. The
// mark that `widen` sets on a comparison is here, too.
// Operations have such structs in their files in op/.
#pragma once

#include "meshtensor/graph/attributes/collective.hpp"
#include "meshtensor/graph/module.hpp"

namespace meshtensor {

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

/// How an update of a variable counts.
struct counted_update {
  path_id under;      // the path whose count it raises, no_id if it does not count
  path_id optimizer;  // the scope of the optimizer that makes the update, or the same path if none does
  number_id steps;    // the number of updates in a call: a row of the table of numbers, no_id for 1
  bool in_state;      // whether a state counts it, in a loop or a branch, and not the store

  /// An update by something else, for example by an average.
  static constexpr counted_update alone(path_id under) { return {under, under, no_id, false}; }
};
inline constexpr counted_update not_counted{no_id, no_id, no_id, false};

struct write_attributes {
  variable_id variable;
  counted_update counted;

  static constexpr write_attributes of(node const& n) {
    return {variable_of(n),
            {static_cast<path_id>(n.attribute[1] - 1), static_cast<path_id>(n.attribute[2] - 1),
             static_cast<number_id>(n.attribute[3] - 1), n.attribute[4] != 0}};
  }
  constexpr attributes packed() const {
    return {{variable, static_cast<id>(counted.under + 1), static_cast<id>(counted.optimizer + 1),
             static_cast<id>(counted.steps + 1), counted.in_state}};
  }
};

/// How a write counts as an update.
constexpr counted_update counting_of(node const& write) { return write_attributes::of(write).counted; }

// ---- indices of `each` ----

struct view_attributes {
  dim_id dim;     // of the `each`
  bool own_copy;  // of hide: whether the result counts as another tensor for each index although they all are equal

  static constexpr view_attributes of(id const* slots) { return {static_cast<dim_id>(slots[0]), slots[1] != 0}; }
  static constexpr view_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{dim, own_copy}}; }
};

/// Marks a comparison whose result says which indices of an `each` run the region that it is in. See
/// pass/widen/decision.hpp. `check_numerics` needs it to leave out the others.
constexpr void mark_as_mask_of_indices(node& n) { n.attribute[0] = 1; }
constexpr bool is_mask_of_indices(node const& n) { return n.kind == primitive::elementwise && n.attribute[0] == 1; }

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

  static_assert(shape::capacity <= 2 * max_attributes && max_dims < 256);
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

// ---- views ----

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

}  // namespace meshtensor

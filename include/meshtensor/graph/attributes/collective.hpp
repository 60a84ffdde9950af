// SPDX-License-Identifier: Apache-2.0
// Names the attributes of reshards, of moves and of other collectives.
#pragma once

#include <cstdint>

#include "meshtensor/base/shifted.hpp"
#include "meshtensor/graph/module.hpp"

namespace meshtensor {

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

/// What operand 1 of an exchange of rows says.
///
/// `to_holders`   [ranks, groups]: how many rows each rank has for each group. They go to the holders of the groups.
/// `back`         The same, and the rows return to the ranks that sent them.
/// `by_sources`   [rows]: for each row of the whole result, the row of the whole operand that it is.
enum class row_move : std::uint8_t { to_holders, back, by_sources };

/// The exchange of rows. Each rank sends rows of its block to the other ranks of the axes that need them, as operand 1
/// says. All these ranks have the same numbers in it.
struct move_rows_attributes {
  unsigned axes;    // a mask of the mesh axes whose ranks exchange
  dim_id from, to;  // the rows of the operand and of the result
  dim_id groups;    // the last dim of operand 1
  dim_id holders;   // the rows themselves if they move by sources
  row_move how;

  static constexpr move_rows_attributes of(node const& n) {
    return {n.attribute[0],
            static_cast<dim_id>(n.attribute[1]),
            static_cast<dim_id>(n.attribute[2]),
            static_cast<dim_id>(n.attribute[3]),
            static_cast<dim_id>(n.attribute[4]),
            static_cast<row_move>(n.function)};
  }
  constexpr attributes packed() const { return {{static_cast<id>(axes), from, to, groups, holders}}; }
  constexpr std::uint8_t function() const { return static_cast<std::uint8_t>(how); }
};

/// Whether a node is a move that shifts elements. It may be a move within one rank.
constexpr bool shifts(node const& n) { return n.kind == primitive::move && move_attributes::of(n).first != no_id; }

/// Whether a node moves rows to the rows that name them. It may be a move within one rank.
constexpr bool permutes(node const& n) {
  return n.kind == primitive::move_rows && move_rows_attributes::of(n).how == row_move::by_sources;
}

/// The mesh axes of a collective or a local_slice, as a mask.
constexpr unsigned axes_of_collective(node const& n) {
  return n.kind == primitive::move ? move_attributes::of(n).axes : n.attribute[0];
}

/// A collective, or a local_slice.
struct collective_attributes {
  unsigned axes;                  // a mask of mesh axes
  dim_id split = no_id;           // the dim that becomes sharded: reduce_scatter, all_to_all, local_slice
  dim_id join = no_id;            // the dim that becomes unsharded: all_gather, all_to_all
  bool ends_behind_loop = false;  // all_reduce: whether its wait is after its loop; set by `overlap_collectives`
  bool starts_ahead = false;      // all_gather: whether it starts one iteration ahead; set by `overlap_collectives`

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

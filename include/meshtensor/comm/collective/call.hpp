// SPDX-License-Identifier: Apache-2.0
// A call of a collective as a plain value: kind, reduction, extents and members, all known before the first step.
#pragma once

#include <cstddef>
#include <cstdint>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/dtype.hpp"
#include "meshtensor/base/reduction.hpp"
#include "meshtensor/comm/movement.hpp"

namespace meshtensor {

enum class collective : std::uint8_t { all_reduce, reduce_scatter, reduce, all_gather, all_to_all, broadcast, move };
/// The members that take part: ranks of a communicator, in the order of the mesh axes. `index` is the position of this
/// rank among them. The array must outlive every request made with it.
struct group {
  int const* members = nullptr;
  int count = 0;
  int index = 0;
};

/// A collective over p members, each with one dense row-major block. m is the index of this member, and x[m] is its
/// block. Blocks have the same extents, except along `join`, where they are the parts of `joined`.
///
/// `all_reduce`       out = x[0] op x[1] op … op x[p-1]. `in` may be `out`.
/// `reduce_scatter`   Part m along `split` of x[0] op x[1] op … op x[p-1].
/// `reduce`           All of x[0] op x[1] op … op x[p-1], for member `root`. `out` of the other members has the
///                    same size, but gets no result.
/// `all_gather`       All blocks one after the other along `join`.
/// `all_to_all`       Part m along `split` of the block of each member j, placed j-th along `join`.
/// `broadcast`        The block of member `root`. `in` may be `out`, and is read only on the root.
/// `move`             Box m of the boxes in `moves`, from the boxes of all members. Elements that come from no member
///                    are `around`.
///
/// Parts are balanced (base/parts.hpp): they may differ by one grain, and may be empty.
///
/// Reductions combine the blocks in the order of the members. A small all_reduce, and any sum of more than 32 blocks of
/// floats, has the order of reduction_steps instead.
///
/// Sums of floats are accumulated in the accumulator's type and rounded once. Sums of integers wrap. max and min give
/// NaN if any operand is NaN. For bool, max is or, and min is and.
struct collective_call {
  collective kind = collective::all_reduce;
  reduction op = reduction::sum;
  dtype type = dtype::f32;
  int dims = 0;
  std::int64_t extent[max_dims_of_one] = {};
  int split = -1;
  int join = -1;
  std::int64_t joined = 0;  // the extent of the result along `join`, or 0 if it is that of the block times p
  std::int64_t split_grain = 1, join_grain = 1;  // of the parts
  int root = 0;
  movement const* moves = nullptr;  // must outlive every request made with the call
  positions at = {};                // of a move: see each_run
  std::byte around[8] = {};         // of a move: the element that fills the rest
  std::int64_t together = 0;   // bytes of the message of an all_reduce that is joined with others, or 0 if it is alone
  char const* file = nullptr;  // for errors: the program's source file or, without a line, the purpose of the call
  int line = 0;
};

constexpr char const* text_of(collective kind) {
  constexpr char const* names[] = {"all_reduce", "reduce_scatter", "reduce", "all_gather",
                                   "all_to_all", "broadcast",      "move"};
  return names[static_cast<int>(kind)];
}

constexpr bool reduces(collective kind) { return kind <= collective::reduce; }
constexpr bool splits(collective kind) { return kind == collective::reduce_scatter || kind == collective::all_to_all; }
constexpr bool joins(collective kind) { return kind == collective::all_gather || kind == collective::all_to_all; }
constexpr bool has_root(collective kind) { return kind == collective::reduce || kind == collective::broadcast; }

}  // namespace meshtensor

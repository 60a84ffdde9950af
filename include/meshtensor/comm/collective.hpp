// SPDX-License-Identifier: Apache-2.0
// A collective as a plain value: kind, reduction, extents and members, all known before the first step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "meshtensor/base/all_reduce.hpp"
#include "meshtensor/base/config.hpp"
#include "meshtensor/base/diagnostic.hpp"
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

std::string text_of(collective_call const& call);
std::string located(collective_call const& call);

/// The error in a call over `count` members. It is empty if there is none. errors R20
constexpr diagnostic check(collective_call const& call, int count) {
  diagnostic report{};
  report << "R20 " << text_of(call.kind) << ": ";
  if (count < 1) return report << "a group has at least one member", report;
  if (call.dims < 0 || call.dims > max_dims_of_one) return report << "a block has at most 8 dims", report;
  std::int64_t room = std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(bytes_of(call.type)) / count;
  for (int d = 0; d < call.dims; ++d) {
    if (call.extent[d] < 0) return report << "dim " << d << " has the negative extent " << call.extent[d], report;
    if (call.extent[d] > 1) room /= call.extent[d];
  }
  if (room == 0) return report << "the block has more bytes than a 64-bit number counts", report;
  if (splits(call.kind)) {
    if (call.split < 0 || call.split >= call.dims) return report << "split names dim " << call.split, report;
    if (call.split_grain < 1 || call.extent[call.split] % call.split_grain != 0)
      return report << "dim " << call.split << ", extent " << call.extent[call.split]
                    << ", is to be cut into multiples of " << call.split_grain,
             report;
  }
  if (joins(call.kind)) {
    if (call.join < 0 || call.join >= call.dims) return report << "join names dim " << call.join, report;
    if (call.joined < 0 || call.join_grain < 1 || call.joined % call.join_grain != 0)
      return report << "dim " << call.join << ", in all " << call.joined << ", is to have parts of multiples of "
                    << call.join_grain,
             report;
    if (splits(call.kind) && call.split == call.join)
      return report << "dim " << call.join << " is to be split and joined", report;
  }
  if (has_root(call.kind) && (call.root < 0 || call.root >= count))
    return report << "the root is member " << call.root << " of " << count, report;
  if (call.kind == collective::move) {
    if (call.moves == nullptr) return report << "nothing says who holds what", report;
    if (call.moves->dims != call.dims || call.moves->along >= call.dims)
      return report << "its boxes have other dims than the block", report;
    auto const boxes = static_cast<std::size_t>(count);
    if (call.moves->from.size() != boxes || call.moves->to.size() != boxes || call.moves->copy.size() != boxes)
      return report << "its boxes are those of another number of members than " << count, report;
  }
  if (reduces(call.kind) && call.type == dtype::boolean && call.op == reduction::sum)
    return report << "bool has no sum; use max for or, min for and", report;
  return {};
}

/// Throws the error that `check` finds.
inline void require_valid(collective_call const& call, int count) { raise(check(call, count)); }

/// The part that member `index` takes along `split`.
constexpr interval split_part(collective_call const& call, int count, int index) {
  return part_of(call.extent[call.split], count, index, call.split_grain);
}
/// The part that member `index` brings along `join`.
constexpr interval joined_part(collective_call const& call, int count, int index) {
  if (call.joined != 0) return part_of(call.joined, count, index, call.join_grain);
  return {index * call.extent[call.join], call.extent[call.join]};
}
/// Whether all members take and bring parts of the same length.
constexpr bool has_even_parts(collective_call const& call, int count) {
  return (!splits(call.kind) || is_even(call.extent[call.split], count, call.split_grain)) &&
         (!joins(call.kind) || call.joined == 0 || is_even(call.joined, count, call.join_grain));
}

/// Whether some member takes or brings nothing.
constexpr bool has_empty_parts(collective_call const& call, int count) {
  return (splits(call.kind) && split_part(call, count, count - 1).count == 0) ||
         (joins(call.kind) && joined_part(call, count, count - 1).count == 0);
}

/// Throws the error that `check` finds. Also throws if the block of member `index` is not its part of `joined`, or not
/// its box of a move. errors R20
inline void require_valid(collective_call const& call, int count, int index) {
  require_valid(call, count);
  if (call.kind == collective::move)
    for (int d = 0; d < call.dims; ++d)
      if (call.extent[d] != call.moves->from[static_cast<std::size_t>(index)].extent[d])
        throw error("R20", {text_of(call), ": member ", index, " of ", count, " brings ", call.extent[d], " along dim ",
                            d, ", but its box has ", call.moves->from[static_cast<std::size_t>(index)].extent[d]});
  if (!joins(call.kind) || call.extent[call.join] == joined_part(call, count, index).count) return;
  throw error("R20",
              {text_of(call), ": member ", index, " of ", count, " brings ", call.extent[call.join], " along dim ",
               call.join, ", but its part of ", call.joined, " is ", joined_part(call, count, index).count});
}

/// The number of elements in this member's block.
constexpr std::int64_t elements_of(collective_call const& call) {
  std::int64_t n = 1;
  for (int d = 0; d < call.dims; ++d) n *= call.extent[d];
  return n;
}

constexpr std::int64_t bytes_of(collective_call const& call) {
  return elements_of(call) * static_cast<std::int64_t>(bytes_of(call.type));
}

/// The call with the extents of a box.
constexpr collective_call with_extents(collective_call call, box const& b) {
  for (int d = 0; d < call.dims; ++d) call.extent[d] = b.extent[d];
  return call;
}

/// The call that member `index` of the same group makes.
constexpr collective_call of_member(collective_call call, int count, int index) {
  if (call.kind == collective::move) return with_extents(call, call.moves->from[static_cast<std::size_t>(index)]);
  if (joins(call.kind)) call.extent[call.join] = joined_part(call, count, index).count;
  return call;
}

/// The call with the extents of member `index`'s result instead of those of the block.
constexpr collective_call result_of(collective_call call, int count, int index) {
  if (call.kind == collective::move) return with_extents(call, call.moves->to[static_cast<std::size_t>(index)]);
  if (splits(call.kind)) call.extent[call.split] = split_part(call, count, index).count;
  if (joins(call.kind) && call.joined != 0) call.extent[call.join] = call.joined;
  else if (joins(call.kind)) call.extent[call.join] *= count;
  return call;
}

constexpr std::int64_t result_bytes_of(collective_call const& call, int count, int index) {
  return bytes_of(result_of(call, count, index));
}

/// Whether no member has any element. A single block may be empty although others are not.
constexpr bool is_empty(collective_call call, int count) {
  if (call.kind == collective::move) return false;
  if (joins(call.kind)) call.extent[call.join] = result_of(call, count, 0).extent[call.join];
  return elements_of(call) == 0;
}

/// Whether an all_reduce goes in steps, because it is small.
constexpr bool goes_in_steps(collective_call const& call) {
  return goes_in_steps(call.together == 0 ? bytes_of(call) : call.together);
}

/// Bytes that member `index` receives from the others, as reports count them.
constexpr std::int64_t received_bytes_of(collective_call const& call, int count, int index) {
  std::int64_t const block = bytes_of(call);
  switch (call.kind) {
    case collective::all_reduce:
      return all_reduce_bytes(elements_of(call), call.type, count, index, goes_in_steps(call));
    case collective::broadcast: return index == call.root ? 0 : block;
    case collective::reduce: return reduce_bytes(elements_of(call), call.type, count, index, index == call.root);
    case collective::move: {
      std::int64_t n = 0;
      for (int j = 0; j < count; ++j) n += j == index ? 0 : comm::moved_elements(*call.moves, call.at, j, index);
      return n * static_cast<std::int64_t>(bytes_of(call.type));
    }
    case collective::reduce_scatter: return result_bytes_of(call, count, index) * (count - 1);
    case collective::all_gather: return result_bytes_of(call, count, index) - bytes_of(of_member(call, count, index));
    case collective::all_to_all: {
      std::int64_t const all = result_bytes_of(call, count, index);
      std::int64_t const length = result_of(call, count, index).extent[call.join];
      return length == 0 ? 0 : all / length * (length - joined_part(call, count, index).count);
    }
  }
  return 0;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// `all_reduce sum f32[4, 8]`
inline std::string text_of(collective_call const& call) {
  std::string text = text_of(call.kind);
  if (reduces(call.kind)) text += std::string(" ") + text_of(call.op);
  text += std::string(" ") + text_of(call.type) + "[";
  for (int d = 0; d < call.dims; ++d) text += (d != 0 ? ", " : "") + std::to_string(call.extent[d]);
  return text + "]";
}

/// `all_reduce sum f32[4, 8] (train.cpp:31)`
inline std::string located(collective_call const& call) {
  if (call.file == nullptr) return text_of(call);
  return text_of(call) + " (" + call.file + (call.line == 0 ? "" : ":" + std::to_string(call.line)) + ")";
}

/// `ranks {0, 2}`
inline std::string text_of(group const& g) {
  std::string ranks;
  for (int j = 0; j < g.count; ++j) ranks += (j == 0 ? "" : ", ") + std::to_string(g.members[j]);
  return "ranks {" + ranks + "}";
}

/// `rank 3`, `ranks 0 to 5, 8`. A long list is cut after its first ranges, and ends with the number of further ranks.
inline std::string text_of_ranks(std::vector<int> const& ascending) {
  constexpr int most = 4;  // runs
  std::string text = ascending.size() == 1 ? "rank " : "ranks ";
  std::size_t i = 0;
  for (int runs = 0; i < ascending.size() && runs < most; ++runs) {
    std::size_t last = i;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    text += (runs == 0 ? "" : ", ") + std::to_string(ascending[i]);
    if (last > i) text += (last == i + 1 ? ", " : " to ") + std::to_string(ascending[last]);
    i = last + 1;
  }
  return i == ascending.size() ? text : text + " and " + std::to_string(ascending.size() - i) + " more";
}

/// errors R23 the group does not list different ranks below `size`, with `rank` at its own index
inline void require_valid(group const& g, int rank, int size) {
  std::vector<bool> seen(static_cast<std::size_t>(std::max(size, 0)));
  bool valid = g.index >= 0 && g.index < g.count && g.members[g.index] == rank;
  for (int i = 0; valid && i < g.count; ++i) {
    int const member = g.members[i];
    valid = member >= 0 && member < size && !seen[static_cast<std::size_t>(member)];
    if (valid) seen[static_cast<std::size_t>(member)] = true;
  }
  if (valid) return;
  throw error("R23", {"a group lists different ranks below ", size, ", with rank ", rank, " at its own index; got ",
                      text_of(g), ", index ", g.index});
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

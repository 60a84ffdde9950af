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

namespace meshtensor {

enum class collective : std::uint8_t { all_reduce, reduce_scatter, all_gather, all_to_all, broadcast, permute };
/// The members that take part: ranks of a communicator, in the order of the mesh axes. `index` is this rank's place.
/// The array must outlive every request made with it.
struct group {
  int const* members = nullptr;
  int count = 0;
  int index = 0;
};

/// A collective over p members, each with one dense row-major block of the same extents. m is this member's index.
///
/// all_reduce      out = x[0] op x[1] op … op x[p-1], in this order; `in` may be `out`
/// reduce_scatter  slice m along `split` of that; p divides the extent
/// all_gather      all blocks one after the other along `join`
/// all_to_all      slice m along `split` of each member j, placed j-th along `join`; p divides the extent of `split`
/// broadcast       the block of member `root`; `in` may be `out`, and is read on the root only
/// permute         the block of member source[m]; zeros where source[m] is -1
///
/// Sums of floats are accumulated in the accumulator's type and rounded once; sums of integers wrap. max and min give
/// NaN if any operand is NaN. For bool, max is or, min is and.
struct collective_call {
  collective kind = collective::all_reduce;
  reduction op = reduction::sum;
  dtype type = dtype::f32;
  int dims = 0;
  std::int64_t extent[max_dims_of_one] = {};
  int split = -1;
  int join = -1;
  int root = 0;
  int const* source = nullptr;  // one entry a member; must outlive every request made with the call
  char const* file = nullptr;   // for errors: the program's source file or, without a line, the purpose of the call
  int line = 0;
};

constexpr char const* text_of(collective kind) {
  constexpr char const* names[] = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "permute"};
  return names[static_cast<int>(kind)];
}

constexpr bool reduces(collective kind) { return kind <= collective::reduce_scatter; }
constexpr bool splits(collective kind) { return kind == collective::reduce_scatter || kind == collective::all_to_all; }
constexpr bool joins(collective kind) { return kind == collective::all_gather || kind == collective::all_to_all; }

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

/// The error in a call over `count` members; empty if there is none. errors R20
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
    if (call.extent[call.split] % count != 0)
      return report << "the " << count << " members do not divide dim " << call.split << ", extent "
                    << call.extent[call.split] << "; pad it to a multiple",
             report;
  }
  if (joins(call.kind) && (call.join < 0 || call.join >= call.dims))
    return report << "join names dim " << call.join, report;
  if (call.kind == collective::broadcast && (call.root < 0 || call.root >= count))
    return report << "the root is member " << call.root << " of " << count, report;
  if (call.kind == collective::permute) {
    if (call.source == nullptr) return report << "it has no list of sources", report;
    for (int m = 0; m < count; ++m)
      if (call.source[m] < -1 || call.source[m] >= count)
        return report << "member " << m << " receives from member " << call.source[m] << " of " << count, report;
  }
  if (reduces(call.kind) && call.type == dtype::boolean && call.op == reduction::sum)
    return report << "bool has no sum; use max for or, min for and", report;
  return {};
}

/// Throws the error that `check` finds.
inline void require_valid(collective_call const& call, int count) { raise(check(call, count)); }

/// `ranks {0, 2}`
inline std::string text_of(group const& g) {
  std::string list;
  for (int j = 0; j < g.count; ++j) list += (j == 0 ? "" : ", ") + std::to_string(g.members[j]);
  return "ranks {" + list + "}";
}

/// `rank 3`, `ranks 0 to 5, 8`; a long list is cut after its first ranges, with the number of further ranks
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

/// The number of elements in this member's block.
constexpr std::int64_t elements_of(collective_call const& call) {
  std::int64_t n = 1;
  for (int d = 0; d < call.dims; ++d) n *= call.extent[d];
  return n;
}

constexpr std::int64_t bytes_of(collective_call const& call) {
  return elements_of(call) * static_cast<std::int64_t>(bytes_of(call.type));
}

/// The call with the extents of the result instead of those of the block.
constexpr collective_call result_of(collective_call call, int count) {
  if (splits(call.kind)) call.extent[call.split] /= count;
  if (joins(call.kind)) call.extent[call.join] *= count;
  return call;
}

constexpr std::int64_t result_bytes_of(collective_call const& call, int count) {
  return bytes_of(result_of(call, count));
}

/// Bytes that member `index` receives from the others, as reports count them.
constexpr std::int64_t received_bytes_of(collective_call const& call, int count, int index) {
  std::int64_t const block = bytes_of(call);
  switch (call.kind) {
    case collective::all_reduce:
      return all_reduce_bytes(elements_of(call), static_cast<std::int64_t>(bytes_of(call.type)), count, index);
    case collective::all_gather: return (count - 1) * block;
    case collective::broadcast: return index == call.root ? 0 : block;
    case collective::permute: return call.source[index] == -1 || call.source[index] == index ? 0 : block;
    default: return block / count * (count - 1);
  }
}

}  // namespace meshtensor

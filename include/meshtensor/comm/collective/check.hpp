// SPDX-License-Identifier: Apache-2.0
// Checks a call of a collective, and the group that makes it, before it starts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/comm/collective/extents.hpp"
#include "meshtensor/comm/collective/text.hpp"

namespace meshtensor {

/// The error in a call over `count` members. It is empty if there is none. errors R20
constexpr diagnostic check(collective_call const& call, int count) {
  diagnostic report{};
  report << "R20 " << text_of(call.kind) << ": ";
  if (count < 1) return report << "a group has at least one member", report;
  if (call.dims < 0 || call.dims > max_dims_of_one) return report << "a block has at most 10 dims", report;
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

}  // namespace meshtensor

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

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

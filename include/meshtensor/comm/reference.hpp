// SPDX-License-Identifier: Apache-2.0
// Reference implementation of every collective, from pointers to all members' blocks. Tests compare the transports with
// it, and it runs all ranks of a program in lockstep on one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/base/function_ref.hpp"
#include "meshtensor/comm/collective.hpp"
#include "meshtensor/comm/fold.hpp"
#include "meshtensor/comm/moved_subbox.hpp"
#include "meshtensor/comm/strided_slice.hpp"

namespace meshtensor {

namespace comm {

/// Computes the result of member `index`. `call` may be the call of any member.
inline void deliver(collective_call const& call, int count, int index, sources_of_members sources, void* out) {
  switch (call.kind) {
    case collective::all_reduce:
    case collective::reduce_scatter:
    case collective::reduce: {
      if (call.kind == collective::reduce && index != call.root) return;
      strided_slice const from = taken(call, count, index, index);
      auto const size = static_cast<std::int64_t>(bytes_of(call.type));
      for (std::int64_t begin = 0, at = from.offset; begin < from.bytes; begin += from.run, at += from.stride)
        fold(call, static_cast<std::byte*>(out) + begin, from.run / size, count,
             [&](int j) -> void const* { return static_cast<std::byte const*>(sources(j)) + at; });
      return;
    }
    case collective::all_gather:
    case collective::all_to_all: {
      for (int j = 0; j < count; ++j)
        copy(out, placed(call, count, j, index), sources(j), taken(call, count, j, index));
      return;
    }
    case collective::broadcast: return copy(out, whole(bytes_of(call)), sources(call.root), whole(bytes_of(call)));
    case collective::move: {
      movement const& m = *call.moves;
      auto const size = static_cast<std::int64_t>(bytes_of(call.type));
      fill_uncovered(m, call.at, index, size, call.around, out);
      for (int j = 0; j < count; ++j)
        each_subbox(m, call.at, j, index,
                    [&](moved_subbox const& p) { copy_subbox(m, p, size, index, out, j, sources(j)); });
    }
  }
}

}  // namespace comm

/// Computes the result of member `index` in a collective over `count` members, whose blocks are `inputs`. A result must
/// not overlap a block that another member still needs. errors R20
inline void reference(collective_call const& call, int count, void const* const* inputs, int index, void* out) {
  require_valid(call, count);
  comm::deliver(call, count, index, [&](int j) { return inputs[j]; }, out);
}

/// The calls of the ranks, each with the extents of its own block.
using calls_of_ranks = function_ref<collective_call const&(int rank)>;

/// Performs the collective for all members of all groups at once. `in` and `out` have one pointer for each rank.
/// all_reduce and broadcast may be in place. errors R20
inline void run_collective(calls_of_ranks calls, std::span<group const> groups, void const* const* in,
                           void* const* out) {
  for (group const& g : groups) {
    collective_call const& call = calls(g.members[0]);
    for (int m = 0; m < g.count; ++m) require_valid(calls(g.members[m]), g.count, m);
    auto const sources = [&](int j) { return in[g.members[j]]; };
    if (call.kind != collective::all_reduce) {
      for (int m = 0; m < g.count; ++m) comm::deliver(call, g.count, m, sources, out[g.members[m]]);
      continue;
    }
    // We reduce once for all members, part by part. Each part is written only after all members' parts were read,
    // because the collective may be in place.
    auto const size = static_cast<std::int64_t>(bytes_of(call.type));
    std::int64_t const n = elements_of(call), part = 4096;
    for (std::int64_t begin = 0; begin < n; begin += part) {
      std::int64_t const count = std::min(part, n - begin), at = begin * size;
      auto const result = [&](int m) { return static_cast<std::byte*>(out[g.members[m]]) + at; };
      comm::fold(call, result(0), count, g.count,
                 [&](int j) -> void const* { return static_cast<std::byte const*>(sources(j)) + at; });
      for (int m = 1; m < g.count; ++m) copy_bytes(result(m), result(0), count * size);
    }
  }
}

/// The same for blocks that all have the same extents.
inline void run_collective(collective_call const& call, std::span<group const> groups, void const* const* in,
                           void* const* out) {
  run_collective([&](int) -> collective_call const& { return call; }, groups, in, out);
}

}  // namespace meshtensor

// SPDX-License-Identifier: Apache-2.0
// Counts the bytes that a collective brings to a member, as reports say them.
#pragma once

#include <cstdint>

#include "meshtensor/base/all_reduce.hpp"
#include "meshtensor/comm/collective/extents.hpp"
#include "meshtensor/comm/moved_subbox.hpp"

namespace meshtensor {

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

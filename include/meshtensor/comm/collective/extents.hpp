// SPDX-License-Identifier: Apache-2.0
// The extents of a collective: the parts that its members take and bring, their blocks and their results.
#pragma once

#include <cstddef>
#include <cstdint>

#include "meshtensor/base/parts.hpp"
#include "meshtensor/comm/collective/call.hpp"

namespace meshtensor {

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

}  // namespace meshtensor

// SPDX-License-Identifier: Apache-2.0
// Strided slices: the bytes of a block that a member reads, and their place in its result. All transports use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "meshtensor/comm/collective.hpp"

namespace meshtensor::comm {

/// The bytes of a slice in a larger block, in row-major order: byte x is at offset + x / run · stride + x mod run.
struct strided_slice {
  std::int64_t bytes;
  std::int64_t run;
  std::int64_t stride;
  std::int64_t offset;
  constexpr bool contiguous() const { return run == bytes; }
};

constexpr strided_slice whole(std::int64_t bytes) { return {bytes, bytes, bytes, 0}; }

/// The elements of `part` along one dim of the block that `call` describes.
constexpr strided_slice slice_of(collective_call const& call, int dim, interval part) {
  std::int64_t outer = 1, inner = static_cast<std::int64_t>(bytes_of(call.type));
  for (int d = 0; d < dim; ++d) outer *= call.extent[d];
  for (int d = dim + 1; d < call.dims; ++d) inner *= call.extent[d];
  std::int64_t const run = part.count * inner, bytes = outer * run, offset = part.begin * inner;
  return run == bytes ? strided_slice{bytes, bytes, bytes, offset}
                      : strided_slice{bytes, run, call.extent[dim] * inner, offset};
}

/// The slice of member `sender`'s block that member `receiver` reads. `call` may be the call of any member.
constexpr strided_slice taken(collective_call const& call, int count, int sender, int receiver) {
  collective_call const block = of_member(call, count, sender);
  return splits(call.kind) ? slice_of(block, call.split, split_part(call, count, receiver)) : whole(bytes_of(block));
}

/// The slice of member `receiver`'s result that holds the data of member `sender`.
constexpr strided_slice placed(collective_call const& call, int count, int sender, int receiver) {
  collective_call const result = result_of(call, count, receiver);
  return joins(call.kind) ? slice_of(result, call.join, joined_part(call, count, sender)) : whole(bytes_of(result));
}

namespace detail {
// Both runs are products of the trailing extents of one slice, so one of them divides the other.
template <std::int64_t Step>
void copy_steps(std::byte* to, strided_slice const& a, std::byte const* from, strided_slice const& b,
                std::int64_t step) {
  if constexpr (Step != 0) step = Step;
  std::int64_t to_run = 0, from_run = 0, i = 0, j = 0;  // the start of each current run, and the offset in it
  for (std::int64_t done = 0; done < a.bytes; done += step) {
    std::memcpy(to + to_run + i, from + from_run + j, static_cast<std::size_t>(step));
    if ((i += step) == a.run) i = 0, to_run += a.stride;
    if ((j += step) == b.run) j = 0, from_run += b.stride;
  }
}
}  // namespace detail

/// Copies slice `b` of the block `source` to slice `a` of the block `target`. Both slices have the same number of
/// bytes.
inline void copy(void* target, strided_slice const& a, void const* source, strided_slice const& b) {
  if (a.bytes == 0) return;
  auto* const to = static_cast<std::byte*>(target) + a.offset;
  auto const* const from = static_cast<std::byte const*>(source) + b.offset;
  std::int64_t const step = a.run < b.run ? a.run : b.run;
  if (to == from && step == a.bytes) return;
  switch (step) {
    case 1: return detail::copy_steps<1>(to, a, from, b, step);
    case 2: return detail::copy_steps<2>(to, a, from, b, step);
    case 4: return detail::copy_steps<4>(to, a, from, b, step);
    case 8: return detail::copy_steps<8>(to, a, from, b, step);
    case 16: return detail::copy_steps<16>(to, a, from, b, step);
    default: return detail::copy_steps<0>(to, a, from, b, step);
  }
}

}  // namespace meshtensor::comm

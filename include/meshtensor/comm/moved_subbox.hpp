// SPDX-License-Identifier: Apache-2.0
// The elements that one member of a general exchange sends to another, as subboxes of their boxes.
#pragma once

#include <cstring>
#include <optional>
#include <utility>

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/comm/movement.hpp"

namespace meshtensor {
namespace comm {

/// Elements that one member sends to another: a box of `extent`, which begins at index `to` of the receiver's box and
/// at index `from` of the sender's.
struct moved_subbox {
  std::int64_t extent[max_dims_of_one], to[max_dims_of_one], from[max_dims_of_one];
  std::int64_t to_step = 1, from_step = 1;  // along `movement::along`, where they may be negative

  std::int64_t elements(int dims) const {
    std::int64_t n = 1;
    for (int d = 0; d < dims; ++d) n *= extent[d];
    return n;
  }
};

/// Calls f(moved_subbox) for the rows that go from `sender` to `receiver` by sources, one subbox for each run.
template <class F>
void each_subbox_by_sources(movement const& m, box const& from, box const& to, F&& f) {
  moved_subbox p{};
  for (int d = 0; d < m.dims; ++d) p.extent[d] = to.extent[d];
  std::int64_t const first = from.origin[m.rows], behind = first + from.extent[m.rows];
  for (std::int64_t row = to.origin[m.rows], end = row + to.extent[m.rows]; row < end;) {
    std::int64_t const source = m.sources[static_cast<std::size_t>(row)];
    std::int64_t count = 1;
    if (source >= first && source < behind) {
      while (row + count < end && source + count < behind &&
             m.sources[static_cast<std::size_t>(row + count)] == source + count)
        ++count;
      p.extent[m.rows] = count, p.from[m.rows] = source - first, p.to[m.rows] = row - to.origin[m.rows];
      if (p.elements(m.dims) != 0) f(p);
    }
    row += count;
  }
}

/// Calls f(moved_subbox) for the elements that go from `sender` to `receiver`. These are at most two subboxes or, if
/// members exchange rows, one subbox for each run. `at` has the meaning that it has in each_run.
template <class F>
void each_subbox(movement const& m, positions at, int sender, int receiver, F&& f) {
  auto const s = static_cast<std::size_t>(sender), r = static_cast<std::size_t>(receiver);
  if (m.copy[s] != m.copy[r]) return;
  box const &from = m.from[s], &to = m.to[r];
  if (m.by_sources) return each_subbox_by_sources(m, from, to, std::forward<F>(f));
  moved_subbox p{};
  if (m.rows >= 0) {
    for (int d = 0; d < m.dims; ++d) p.extent[d] = from.extent[d];
    for (row_run const& run : m.runs_between(s, r)) {
      p.extent[m.rows] = run.count, p.from[m.rows] = run.from, p.to[m.rows] = run.to;
      if (p.elements(m.dims) != 0) f(p);
    }
    return;
  }
  for (int d = 0; d < m.dims; ++d) {
    if (d == m.along) continue;
    std::int64_t const begin = std::max(from.origin[d], to.origin[d]);
    std::int64_t const end = std::min(from.origin[d] + from.extent[d], to.origin[d] + to.extent[d]);
    if (begin >= end) return;
    p.extent[d] = end - begin, p.to[d] = begin - to.origin[d], p.from[d] = begin - from.origin[d];
  }
  if (m.along < 0) return f(p);
  int const d = m.along;
  each_run(m.kind, at, m.extent, {from.origin[d], from.extent[d]}, {to.origin[d], to.extent[d]},
           [&](shifted_run const& run) {
             p.extent[d] = run.count, p.to[d] = run.to - to.origin[d], p.from[d] = run.from - from.origin[d];
             p.to_step = run.to_step, p.from_step = run.from_step;
             f(p);
           });
}

/// Copies a subbox from one dense box to another, by `copy(to, from, bytes)` for each run that is contiguous in both.
/// `bytes` is the size of an element. The subbox begins at index `at_to` of one box and at index `at_from` of the
/// other. These are zeros for a box that is the subbox itself. The steps are along the dim `along`.
template <class Copy>
void copy_subbox_by(Copy const& copy, moved_subbox const& p, int dims, int along, std::int64_t bytes, std::byte* to,
                    std::int64_t const* to_extent, std::int64_t const* at_to, std::int64_t to_step,
                    std::byte const* from, std::int64_t const* from_extent, std::int64_t const* at_from,
                    std::int64_t from_step) {
  std::int64_t to_stride[max_dims_of_one], from_stride[max_dims_of_one], index[max_dims_of_one] = {};
  for (std::int64_t d = dims, t = bytes, s = bytes; d-- > 0;) {
    to_stride[d] = t, from_stride[d] = s;
    to += at_to[d] * t, from += at_from[d] * s;
    t *= to_extent[d], s *= from_extent[d];
  }
  if (along >= 0) to_stride[along] *= to_step, from_stride[along] *= from_step;
  int inner = dims;  // the dims from here on are one run in both
  std::int64_t run = bytes;
  while (inner > 0 && to_stride[inner - 1] == run && from_stride[inner - 1] == run) run *= p.extent[--inner];
  for (;;) {
    copy(to, from, run);
    int d = inner;
    while (d-- > 0) {
      to += to_stride[d], from += from_stride[d];
      if (++index[d] < p.extent[d]) break;
      to -= index[d] * to_stride[d], from -= index[d] * from_stride[d], index[d] = 0;
    }
    if (d < 0) return;
  }
}

inline void copy_subbox(moved_subbox const& p, int dims, int along, std::int64_t bytes, std::byte* to,
                        std::int64_t const* to_extent, std::int64_t const* at_to, std::int64_t to_step,
                        std::byte const* from, std::int64_t const* from_extent, std::int64_t const* at_from,
                        std::int64_t from_step) {
  copy_subbox_by(copy_bytes, p, dims, along, bytes, to, to_extent, at_to, to_step, from, from_extent, at_from,
                 from_step);
}

inline constexpr std::int64_t at_begin[max_dims_of_one] = {};

/// Copies a subbox from its sender's block to its receiver's.
template <class Copy>
void copy_subbox_by(Copy const& copy, movement const& m, moved_subbox const& p, std::int64_t bytes, int receiver,
                    void* to, int sender, void const* from) {
  copy_subbox_by(copy, p, m.dims, m.along, bytes, static_cast<std::byte*>(to),
                 m.to[static_cast<std::size_t>(receiver)].extent, p.to, p.to_step, static_cast<std::byte const*>(from),
                 m.from[static_cast<std::size_t>(sender)].extent, p.from, p.from_step);
}
inline void copy_subbox(movement const& m, moved_subbox const& p, std::int64_t bytes, int receiver, void* to,
                        int sender, void const* from) {
  copy_subbox_by(copy_bytes, m, p, bytes, receiver, to, sender, from);
}
/// `pack_subbox` copies a subbox from its sender's block to a message, and `unpack_subbox` from a message to its
/// receiver's block.
inline void pack_subbox(movement const& m, moved_subbox const& p, std::int64_t bytes, std::byte* message, int sender,
                        void const* from) {
  copy_subbox(p, m.dims, m.along, bytes, message, p.extent, at_begin, 1, static_cast<std::byte const*>(from),
              m.from[static_cast<std::size_t>(sender)].extent, p.from, p.from_step);
}
inline void unpack_subbox(movement const& m, moved_subbox const& p, std::int64_t bytes, int receiver, void* to,
                          std::byte const* message) {
  copy_subbox(p, m.dims, m.along, bytes, static_cast<std::byte*>(to), m.to[static_cast<std::size_t>(receiver)].extent,
              p.to, p.to_step, message, p.extent, at_begin, 1);
}

/// The only subbox that goes from `sender` to `receiver` by sources, if it is contiguous in `block`. A message then
/// needs no copy there.
inline std::optional<moved_subbox> contiguous_subbox(movement const& m, positions at, int sender, int receiver,
                                                     box const& block) {
  if (!m.by_sources) return std::nullopt;
  int count = 0;
  moved_subbox only{};
  each_subbox(m, at, sender, receiver, [&](moved_subbox const& p) { only = p, ++count; });
  int outer = m.dims;
  while (outer > 0 && only.extent[outer - 1] == block.extent[outer - 1]) --outer;
  for (int d = 0; d + 1 < outer; ++d)
    if (only.extent[d] != 1) return std::nullopt;
  return count == 1 ? std::optional(only) : std::nullopt;
}
/// The number of the element of a dense box at which a subbox begins whose first index there is `at`.
inline std::int64_t offset_in(box const& block, int dims, std::int64_t const* at) {
  std::int64_t offset = 0;
  for (int d = 0; d < dims; ++d) offset = offset * block.extent[d] + at[d];
  return offset;
}

/// The number of elements that go from `sender` to `receiver`.
inline std::int64_t moved_elements(movement const& m, positions at, int sender, int receiver) {
  std::int64_t n = 0;
  each_subbox(m, at, sender, receiver, [&](moved_subbox const& p) { n += p.elements(m.dims); });
  return n;
}

/// Calls f(first, count) for the rows of the receiver's box that come from no member. If members exchange runs of rows,
/// these are the rows behind the last one that comes.
template <class F>
void each_run_without_source(movement const& m, int receiver, F const& f) {
  box const& to = m.to[static_cast<std::size_t>(receiver)];
  std::int64_t const rows = to.extent[m.rows];
  if (!m.by_sources) {
    std::int64_t come = 0;
    for (std::size_t s = 0; s < m.from.size(); ++s)
      for (row_run const& run : m.runs_between(s, static_cast<std::size_t>(receiver))) come += run.count;
    if (come != rows) f(come, rows - come);
    return;
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t const source = m.sources[static_cast<std::size_t>(to.origin[m.rows] + row)];
    if (source < 0 || source >= static_cast<std::int64_t>(m.sources.size())) f(row, std::int64_t{1});
  }
}

/// Calls `clear(address, bytes)` for the rows of the receiver's box that come from no member.
template <class Clear>
void clear_rows_without_source(Clear const& clear, movement const& m, int receiver, std::int64_t bytes,
                               std::byte* out) {
  box const& to = m.to[static_cast<std::size_t>(receiver)];
  std::int64_t outer = 1, inner = bytes;
  for (int d = 0; d < m.dims; ++d)
    if (d != m.rows) (d < m.rows ? outer : inner) *= to.extent[d];
  if (inner == 0) return;
  each_run_without_source(m, receiver, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t o = 0; o < outer; ++o) clear(out + (o * to.extent[m.rows] + first) * inner, count * inner);
  });
}

/// Whether every element of a member's result comes from some member.
inline bool is_covered(movement const& m, positions at, int receiver) {
  if (m.along < 0) return true;
  box const& to = m.to[static_cast<std::size_t>(receiver)];
  interval const target{to.origin[m.along], to.extent[m.along]};
  return count_shifted(m.kind, at, m.extent, {0, m.extent}, target) == target.count;
}

/// Fills a member's result with the element `around`, if some elements of it come from no member. If members exchange
/// rows, it clears the rows that come from no member instead.
inline void fill_uncovered(movement const& m, positions at, int receiver, std::int64_t bytes, std::byte const* around,
                           void* out) {
  if (m.rows >= 0) return clear_rows_without_source(clear_bytes, m, receiver, bytes, static_cast<std::byte*>(out));
  if (is_covered(m, at, receiver)) return;
  auto* const to = static_cast<std::byte*>(out);
  std::int64_t const all = m.to[static_cast<std::size_t>(receiver)].elements(m.dims) * bytes;
  for (std::int64_t o = 0; o < all; o += bytes) std::memcpy(to + o, around, static_cast<std::size_t>(bytes));
}

}  // namespace comm
}  // namespace meshtensor

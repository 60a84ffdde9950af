// SPDX-License-Identifier: Apache-2.0
// The general exchange: every member of a group brings one box of a tensor and gets another box, in which elements may
// be shifted along one dim.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/base/config.hpp"
#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/base/shifted.hpp"

namespace meshtensor {

/// A box of a tensor: its first index and its extents.
struct box {
  std::int64_t origin[max_dims_of_one] = {}, extent[max_dims_of_one] = {};

  bool operator==(box const&) const = default;
  std::int64_t elements(int dims) const {
    std::int64_t n = 1;
    for (int d = 0; d < dims; ++d) n *= extent[d];
    return n;
  }
};

inline std::int64_t elements_in_both(box const& a, box const& b, int dims) {
  std::int64_t n = 1;
  for (int d = 0; d < dims && n != 0; ++d) {
    std::int64_t const begin = std::max(a.origin[d], b.origin[d]);
    std::int64_t const end = std::min(a.origin[d] + a.extent[d], b.origin[d] + b.extent[d]);
    n *= std::max<std::int64_t>(0, end - begin);
  }
  return n;
}

/// A run of rows that one member sends to another. It begins at row `from` of the sender's block, and at row `to` of
/// the receiver's.
struct row_run {
  std::int64_t from, to, count;

  bool operator==(row_run const&) const = default;
};

/// The boxes that all members hold before a move and after it.
struct movement {
  int dims = 0;
  int along = -1;  // the dim that is shifted, or -1 if each element keeps its index
  shift_kind kind = shift_kind::cut;
  std::int64_t extent = 0;      // of the operand along it
  dynamic_array<box> from, to;  // by member: the box that it brings, and the box that it gets
  std::vector<int> copy;        // by member: its number. Members with equal boxes have different numbers, and send only
                                // to members of their own number
  std::vector<int> alike;       // by member: the first member of its number that gets the same box
  std::int64_t most_sent = 0;   // the elements of all messages of the member that sends the most, or 0 if they are no
                                // more than its block has
  std::int64_t most_given = 0;  // the elements of the largest box that a member gets
  int rows = -1;                // the dim of which members exchange runs, or -1 if the boxes say which elements go
  dynamic_array<dynamic_array<row_run>> runs;  // at index: sender times the number of members, plus receiver

  bool operator==(movement const&) const = default;

  dynamic_array<row_run> const& runs_between(std::size_t sender, std::size_t receiver) const {
    return runs[sender * from.size() + receiver];
  }
  /// Computes `alike`, `most_given` and `most_sent`. It is called once, when the boxes are known.
  void find_alike() {
    std::vector<bool> again(to.size());  // whether a later member gets the same box
    for (std::size_t j = 0; j < to.size(); ++j) {
      std::size_t k = 0;
      while (!(to[k] == to[j] && copy[k] == copy[j])) ++k;
      alike.push_back(static_cast<int>(k));
      again[k] = again[k] || k != j;
      most_given = std::max(most_given, to[j].elements(dims));
    }
    if (along >= 0) return;  // boxes that differ do not overlap, so no member sends more than its block
    for (std::size_t s = 0; s < from.size(); ++s) {
      std::int64_t sent = 0;  // halos overlap, so this may be more than the block
      for (std::size_t r = 0; r < to.size(); ++r)
        if (alike[r] == static_cast<int>(r) && (r != s || again[r]) && copy[r] == copy[s])
          sent += elements_in_both(from[s], to[r], dims);
      most_sent = std::max(most_sent, sent);
    }
  }
};

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

/// Calls f(moved_subbox) for the elements that go from `sender` to `receiver`. These are at most two subboxes or, if
/// members exchange rows, one subbox for each run. `at` has the meaning that it has in each_run.
template <class F>
void each_subbox(movement const& m, positions at, int sender, int receiver, F&& f) {
  auto const s = static_cast<std::size_t>(sender), r = static_cast<std::size_t>(receiver);
  if (m.copy[s] != m.copy[r]) return;
  box const &from = m.from[s], &to = m.to[r];
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

/// The number of elements that go from `sender` to `receiver`.
inline std::int64_t moved_elements(movement const& m, positions at, int sender, int receiver) {
  std::int64_t n = 0;
  each_subbox(m, at, sender, receiver, [&](moved_subbox const& p) { n += p.elements(m.dims); });
  return n;
}

/// Calls `clear(address, bytes)` for the rows of the receiver's box that are behind the last row that comes.
template <class Clear>
void clear_behind_rows(Clear const& clear, movement const& m, int receiver, std::int64_t bytes, std::byte* out) {
  box const& to = m.to[static_cast<std::size_t>(receiver)];
  std::int64_t left = to.extent[m.rows], outer = 1, inner = bytes;
  for (std::size_t s = 0; s < m.from.size(); ++s)
    for (row_run const& run : m.runs_between(s, static_cast<std::size_t>(receiver))) left -= run.count;
  for (int d = 0; d < m.dims; ++d)
    if (d != m.rows) (d < m.rows ? outer : inner) *= to.extent[d];
  for (std::int64_t o = 1; o <= outer && left * inner != 0; ++o)
    clear(out + (o * to.extent[m.rows] - left) * inner, left * inner);
}

/// Whether every element of a member's result comes from some member.
inline bool is_covered(movement const& m, positions at, int receiver) {
  if (m.along < 0) return true;
  box const& to = m.to[static_cast<std::size_t>(receiver)];
  interval const target{to.origin[m.along], to.extent[m.along]};
  return count_shifted(m.kind, at, m.extent, {0, m.extent}, target) == target.count;
}

/// Fills a member's result with the element `around`, if some elements of it come from no member. If members exchange
/// rows, it clears the rows behind the last row that comes instead.
inline void fill_uncovered(movement const& m, positions at, int receiver, std::int64_t bytes, std::byte const* around,
                           void* out) {
  if (m.rows >= 0) return clear_behind_rows(clear_bytes, m, receiver, bytes, static_cast<std::byte*>(out));
  if (is_covered(m, at, receiver)) return;
  auto* const to = static_cast<std::byte*>(out);
  std::int64_t const all = m.to[static_cast<std::size_t>(receiver)].elements(m.dims) * bytes;
  for (std::int64_t o = 0; o < all; o += bytes) std::memcpy(to + o, around, static_cast<std::size_t>(bytes));
}

}  // namespace comm
}  // namespace meshtensor

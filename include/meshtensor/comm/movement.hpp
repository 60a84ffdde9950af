// SPDX-License-Identifier: Apache-2.0
// The boxes of the general exchange: every member of a group brings one box of a tensor and gets another box, in which
// elements may be shifted along one dim, or rows may come from the rows that are named.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

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
  bool by_sources = false;                     // whether `sources` says which rows go, in place of `runs`
  std::vector<std::int64_t> sources;  // for each row of the whole result, the row of the whole operand that it is. A
                                      // row whose source is beyond the operand is zero

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
  /// Computes `alike`, `most_given` and `most_sent` of rows that move by sources. If no member holds more than one row,
  /// blocks are messages, so both numbers are 0.
  void find_alike_by_sources() {
    std::int64_t most_rows = 0;
    for (std::size_t j = 0; j < to.size(); ++j) {
      alike.push_back(static_cast<int>(j));
      most_rows = std::max(most_rows, to[j].extent[rows]);
    }
    if (most_rows < 2) return;
    for (box const& b : to) most_given = std::max(most_given, b.elements(dims));
    for (box const& b : from) {
      std::int64_t const row = b.extent[rows] == 0 ? 0 : b.elements(dims) / b.extent[rows];
      std::int64_t const elsewhere = static_cast<std::int64_t>(sources.size()) - b.extent[rows];
      most_sent = std::max(most_sent, elsewhere * row);
    }
  }
};

/// The movement of the same rows by sources in a tensor [rows, width].
inline movement with_width(movement m, std::int64_t width) {
  for (dynamic_array<box>* boxes : {&m.from, &m.to})
    for (box& b : *boxes) {
      box rows;
      rows.origin[0] = b.origin[m.rows], rows.extent[0] = b.extent[m.rows], rows.extent[1] = width;
      b = rows;
    }
  m.dims = 2, m.rows = 0;
  m.alike.clear(), m.most_given = 0, m.most_sent = 0;
  m.find_alike_by_sources();
  return m;
}

}  // namespace meshtensor

// SPDX-License-Identifier: Apache-2.0
// Sets what a planned collective has of its own in each step: its root, the numbers of a move, and runs of rows.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/job/planned_collective.hpp"
#include "meshtensor/op/rules.hpp"

namespace meshtensor {

/// Sets the member that holds the slice of an iteration.
inline void set_root(planned_collective& c, std::int64_t index) {
  auto const held =
      std::ranges::find_if(c.slices, [&](interval const& s) { return index >= s.begin && index < s.begin + s.count; });
  c.call.root = static_cast<int>(held - c.slices.begin());
}
/// Sets the numbers of a step in a move. errors R10 a shift by no number; a slice or a pad beyond its dim
inline void set_numbers(planned_collective& c, module const& m, binding const& bound, node const& n,
                        number_value const* numbers) {
  c.call.at = positions_of(numbers, c.first, c.step);
  move_attributes const a = move_attributes::of(n);
  if (a.from != a.to) require_within(m, c.call.at, a.how, a.from, bound.extent[a.from], a.to, bound.extent[a.to]);
  if (c.around == no_id) return;
  with_element(c.call.type, [&]<class E>() {
    E const element = element_of<E>(numbers[c.around]);
    std::memcpy(c.call.around, &element, sizeof(E));
  });
}

/// Sets the sources of rows that move by sources.
inline void set_sources(movement& m, view const& sources) {
  with_element(sources.type, [&]<class I>() {
    std::int64_t at = 0;
    for (std::int64_t& source : m.sources) {
      source = static_cast<std::int64_t>(static_cast<arithmetic_t<I>>(sources.as<I>()[at]));
      at += sources.stride[0];
    }
  });
}
/// Sets the runs of an exchange of rows from its counts [members, groups]. The rows of a block are sorted by group.
/// In the block of a group's holder they are sorted by group, and within a group by the member that sends them. If rows
/// move by sources, `counts` has the sources.
inline void set_runs(planned_collective& c, row_move how, view const& counts) {
  movement& m = c.moves;
  if (how == row_move::by_sources) return set_sources(m, counts);
  bool const back = how == row_move::back;
  std::size_t const members = c.groups.size();
  auto const of = [&](std::size_t member, std::int64_t group) {
    return std::int64_t{
        counts.as<std::int32_t>()[static_cast<std::int64_t>(member) * counts.stride[0] + group * counts.stride[1]]};
  };
  for (dynamic_array<row_run>& runs : m.runs) runs.clear();
  std::vector<std::int64_t>&taken = c.taken, &given = c.given;  // by senders, by holders
  std::ranges::fill(taken, 0), std::ranges::fill(given, 0);
  for (std::int64_t g = 0; g < counts.extent[1]; ++g) {
    std::size_t holder = 0;
    while (g < c.groups[holder].begin || g >= c.groups[holder].begin + c.groups[holder].count) ++holder;
    for (std::size_t s = 0; s < members; ++s) {
      std::int64_t const n = of(s, g);
      row_run const run = back ? row_run{given[holder], taken[s], n} : row_run{taken[s], given[holder], n};
      if (n != 0) m.runs[back ? holder * members + s : s * members + holder].push_back(run);
      taken[s] += n, given[holder] += n;
    }
  }
}

}  // namespace meshtensor

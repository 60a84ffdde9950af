// SPDX-License-Identifier: Apache-2.0
// Draws which elements a move sends, from which rank to which.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/comm/moved_subbox.hpp"
#include "meshtensor/comm/movement.hpp"
#include "meshtensor/emit/picture_of_parts.hpp"

namespace meshtensor::detail {

class moves_writer : public parts_writer {
 public:
  using parts_writer::parts_writer;

  /// The text of a move. It is empty if only one rank takes part.
  std::string move(node const& n) const {
    move_attributes const a = move_attributes::of(n);
    if (numbers_.members(a.axes) < 2) return "";
    value const &x = m_.operand_value(n, 0), &y = m_.result_value(n);
    std::string text = cut("move over " + axes(a.axes) + ", " + origin(n)) + "\n" +
                       cut("  [" + dims(x.dims, x.layout) + "] -> [" + dims(y.dims, y.layout) + "]") + "\n";
    std::optional<positions> const at =
        a.first == no_id ? std::optional(positions{}) : known_positions(m_, numbers_, a.first, a.step);
    if (!at) return text + "  by a number that is set at run time: each element may change hands\n";
    std::vector<std::int64_t> const group = first_group(a.axes);
    movement const m = movement_of(n, group);
    std::string subboxes = cover(x, y, m, *at, group);
    if (subboxes.empty()) subboxes = subboxes_along(x, y, m, *at, group);
    text += subboxes.empty() ? table_of_subboxes(x, m, *at, group) : subboxes;
    if (std::int64_t const groups = mesh_.size() / static_cast<std::int64_t>(group.size()); groups > 1)
      text += "  and likewise in " + std::to_string(groups - 1) + (groups == 2 ? " other group" : " other groups") +
              " of " + std::to_string(group.size()) + " ranks\n";
    return text;
  }

 protected:
  /// The ranks whose coordinate is 0 along all axes that are not in `mask`.
  std::vector<std::int64_t> first_group(unsigned mask) const {
    std::vector<std::int64_t> all;
    for (std::int64_t rank : all_ranks()) {
      bool in = true;
      for (int a = 0; a < mesh_.count; ++a) in = in && ((mask >> a & 1u) != 0 || mesh_.coordinate(rank, a) == 0);
      if (in) all.push_back(rank);
    }
    return all;
  }
  movement movement_of(node const& n, std::vector<std::int64_t> const& group) const {
    move_attributes const a = move_attributes::of(n);
    value const &x = m_.operand_value(n, 0), &y = m_.result_value(n);
    movement m;
    m.dims = x.dims.count, m.along = a.first == no_id ? -1 : x.dims.find(a.from), m.kind = a.how;
    m.extent = a.first == no_id ? 0 : numbers_.extent[a.from];
    for (std::int64_t rank : group) {
      box from, to;
      for (int d = 0; d < x.dims.count; ++d) {
        interval const s = held(x, d, rank), t = held(y, d, rank);
        from.origin[d] = s.begin, from.extent[d] = s.count, to.origin[d] = t.begin, to.extent[d] = t.count;
      }
      std::int64_t copy = 0;
      for (int axis = 0; axis < mesh_.count; ++axis)
        if ((a.axes >> axis & 1u) != 0 && x.layout.is_replicated(axis))
          copy = copy * mesh_.axes[axis].extent + mesh_.coordinate(rank, axis);
      m.from.push_back(from), m.to.push_back(to), m.copy.push_back(static_cast<int>(copy));
    }
    return m;
  }
  /// A line for each rank with the elements that its windows reach, because these overlap. The text is empty if windows
  /// reach along no dim or several, or if there are more than 8 ranks.
  std::string cover(value const& x, value const& y, movement const& m, positions at,
                    std::vector<std::int64_t> const& group) const {
    constexpr std::size_t most = 8;
    int d = -1;
    for (int k = 0; k < m.dims; ++k) {
      if (m_.dims[y.dims.at[k]].kind != dim_row::halo) continue;
      if (d >= 0) return "";
      d = k;
    }
    if (d < 0 || m.along >= 0 || group.size() > most) return "";
    std::vector<band> reached;
    for (std::size_t q = 0; q < group.size(); ++q) {
      reached.push_back({"rank " + std::to_string(group[q]), {}});
      for (std::size_t j = 0; j < group.size(); ++j)
        comm::each_subbox(m, at, static_cast<int>(j), static_cast<int>(q), [&](comm::moved_subbox const& p) {
          std::int64_t const begin = m.to[q].origin[d] + p.to[d];
          reached.back().segments.push_back({begin, begin + p.extent[d], j == q ? "own" : std::to_string(group[j])});
        });
      if (reached.back().segments.empty()) reached.pop_back();
    }
    auto const owners = parts_of(x, d, group);
    reached.insert(reached.begin(), {"held by rank", segments(owners)});
    return lines(heading(x, d) + "; what windows reach from each rank, and who holds it", extent(x, d), reached) +
           nothing_held(owners);
  }
  /// The subboxes of a shift along one dim, in the order of the result. The text is empty if other dims change hands,
  /// too.
  std::string subboxes_along(value const& x, value const& y, movement const& m, positions at,
                             std::vector<std::int64_t> const& group) const {
    int const d = m.along;
    if (d < 0) return "";
    auto const owners = parts_of(x, d, group), receivers = parts_of(y, d, group);
    std::vector<band::segment> from, elements;
    for (part const& r : receivers) {
      if (r.held.count == 0) continue;
      auto const q = static_cast<int>(std::ranges::find(group, r.ranks[0]) - group.begin());
      bool whole = true;
      std::vector<std::pair<band::segment, std::string>> mine;
      for (int j = 0; j < static_cast<int>(group.size()); ++j)
        comm::each_subbox(m, at, j, q, [&](comm::moved_subbox const& p) {
          auto const &box = m.to[static_cast<std::size_t>(q)], &source = m.from[static_cast<std::size_t>(j)];
          for (int k = 0; k < m.dims; ++k) whole = whole && (k == d || p.extent[k] == box.extent[k]);
          std::int64_t const begin = box.origin[d] + p.to[d], first = source.origin[d] + p.from[d];
          std::int64_t const low = p.to_step > 0 ? begin : begin + (p.extent[d] - 1) * p.to_step;
          std::int64_t const step = p.to_step > 0 ? p.to_step : -p.to_step;
          bool const backwards = p.to_step < 0;
          mine.push_back({{low, low + (p.extent[d] - 1) * step + 1,
                           j == q ? "own" : std::to_string(group[static_cast<std::size_t>(j)])},
                          elements_text(backwards ? first + (p.extent[d] - 1) * p.from_step : first, p.extent[d],
                                        backwards ? -p.from_step : p.from_step)});
        });
      if (!whole) return "";
      std::ranges::sort(mine, {}, [](auto const& one) { return one.first.begin; });
      std::int64_t reached = r.held.begin;
      auto const around = [&](std::int64_t until) {
        if (until <= reached) return;
        from.push_back({reached, until, "-"}), elements.push_back({reached, until, "-"});
      };
      for (auto const& [segment, text] : mine) {
        around(segment.begin);
        from.push_back(segment), elements.push_back({segment.begin, segment.end, text});
        reached = segment.end;
      }
      around(r.held.begin + r.held.count);
    }
    return lines(heading(x, d), extent(x, d), {{"held by rank", segments(owners)}}) + nothing_held(owners) +
           lines("becomes " + heading(y, d), extent(y, d),
                 {{"held by rank", segments(receivers)}, {"from rank", from}, {"elements", elements}}) +
           nothing_held(receivers);
  }
  std::string table_of_subboxes(value const& x, movement const& m, positions at,
                                std::vector<std::int64_t> const& group) const {
    std::vector<int> every;
    for (int d = 0; d < m.dims; ++d)
      if (d == m.along ||
          std::ranges::any_of(m.from, [&](box const& b) { return b.extent[d] != numbers_.extent[x.dims.at[d]]; }) ||
          std::ranges::any_of(m.to, [&](box const& b) { return b.extent[d] != numbers_.extent[x.dims.at[d]]; }))
        every.push_back(d);
    std::string text;
    std::size_t count = 0;
    for (int q = 0; q < static_cast<int>(group.size()); ++q)
      for (int j = 0; j < static_cast<int>(group.size()); ++j) {
        if (j == q) continue;
        comm::each_subbox(m, at, j, q, [&](comm::moved_subbox const& p) {
          std::string line = "  rank " + std::to_string(group[static_cast<std::size_t>(q)]) + " from " +
                             std::to_string(group[static_cast<std::size_t>(j)]) + ": ";
          bool first = true;
          for (int d : every) {
            std::int64_t const begin = m.from[static_cast<std::size_t>(j)].origin[d] + p.from[d];
            line += (first ? "" : ", ") + dim(x.dims.at[d]) + " " +
                    elements_text(begin, p.extent[d], d == m.along ? p.from_step : 1);
            first = false;
          }
          if (count++ < most_lines) text += cut(line) + "\n";
        });
      }
    if (count > most_lines) text += "  and " + std::to_string(count - most_lines) + " more\n";
    return text;
  }
};

}  // namespace meshtensor::detail

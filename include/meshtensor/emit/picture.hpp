// SPDX-License-Identifier: Apache-2.0
// Draws a plan's parts as text: which rank holds which elements of a tensor, and which of them a move sends where.
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/comm/movement.hpp"
#include "meshtensor/emit/bands.hpp"
#include "meshtensor/graph/spell.hpp"
#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/pass/plan_memory.hpp"

namespace meshtensor {
namespace detail {

class picture_writer : speller {
 public:
  picture_writer(module const& m, plan const& p, mesh_shape const& mesh)
      : speller(m), numbers_(p.numbers), mesh_(mesh) {}

  /// All pictures of a program.
  std::string all() {
    struct drawn {
      std::string of, picture, names;
      int more = 0;
    };
    std::vector<drawn> held;
    auto const add = [&](std::string const& name, value const& v) {
      std::string const picture = tensor(v);
      if (picture.empty()) return;
      std::string const of = "[" + dims(v.dims, v.layout) + "]";
      auto const same = std::ranges::find_if(held, [&](drawn const& d) { return d.picture == picture; });
      if (same == held.end()) held.push_back({of, picture, name});
      else if (same->names.size() + name.size() + 2 < picture_columns - 40) same->names += ", " + name;
      else ++same->more;
    };
    for (int i = 0; i < m_.node_count; ++i) {
      node const& n = m_.nodes[i];
      if (m_.regions[n.region].removed) continue;
      if (n.kind == primitive::input) add(label(name_of(n)), m_.result_value(n));
      if (n.kind == primitive::output) add(output_name(n), m_.operand_value(n, 0));
      if (n.kind == primitive::read) add(path(m_.variables[variable_of(n)].path), m_.result_value(n));
    }
    std::string text;
    for (drawn const& d : held) {
      std::string title = d.names + (d.more == 0 ? "" : " and " + std::to_string(d.more) + " more");
      text += (text.empty() ? "" : "\n") + cut(title + " " + d.of) + "\n" + d.picture;
    }
    std::vector<std::string> told;
    for (int i = 0; i < m_.node_count; ++i) {
      node const& n = m_.nodes[i];
      if (n.kind != primitive::move || m_.regions[n.region].removed) continue;
      std::string const one = move(n);
      if (one.empty() || std::ranges::find(told, one) != told.end()) continue;
      text += (text.empty() ? "" : "\n") + one;
      told.push_back(one);
    }
    return text;
  }

  /// The parts of a tensor; empty if no dim of it is in parts.
  std::string tensor(value const& v) const {
    std::vector<int> sharded;
    for (int d = 0; d < v.dims.count; ++d)
      if (numbers_.block_of[v.dims.at[d]].whole == 0 && numbers_.parts(v, d) > 1) sharded.push_back(d);
    if (sharded.empty()) return "";
    if (sharded.size() == 1) {
      auto const parts = parts_of(v, sharded[0]);
      return lines(heading(v, sharded[0]), extent(v, sharded[0]), {{"held by rank", segments(parts)}}) +
             nothing_held(parts);
    }
    if (sharded.size() == 2)
      if (std::string text = grid(v, sharded[0], sharded[1]); !text.empty()) return text;
    return table_of_boxes(v, sharded);
  }

  /// What a move sends; empty if only one rank takes part.
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
    std::string const pieces = pieces_along(x, y, m, *at, group);
    text += pieces.empty() ? table_of_pieces(x, m, *at, group) : pieces;
    if (std::int64_t const groups = mesh_.size() / static_cast<std::int64_t>(group.size()); groups > 1)
      text += "  and likewise in " + std::to_string(groups - 1) + (groups == 2 ? " other group" : " other groups") +
              " of " + std::to_string(group.size()) + " ranks\n";
    return text;
  }

 private:
  struct part {
    interval held;
    std::vector<std::int64_t> ranks;
  };
  std::string output_name(node const& n) const {
    output_attributes const a = output_attributes::of(n);
    return (a.with_path && n.path != no_id ? path(n.path) + "/" : "") + label(a.name);
  }
  std::int64_t extent(value const& v, int position) const { return numbers_.extent[v.dims.at[position]]; }
  interval held(value const& v, int position, std::int64_t rank) const {
    return numbers_.part(v, position, [&](int a) { return mesh_.coordinate(rank, a); });
  }
  std::vector<std::int64_t> all_ranks() const {
    std::vector<std::int64_t> all(static_cast<std::size_t>(mesh_.size()));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    return all;
  }
  /// The ranks at the first place of all axes but these.
  std::vector<std::int64_t> first_group(unsigned mask) const {
    std::vector<std::int64_t> all;
    for (std::int64_t rank : all_ranks()) {
      bool in = true;
      for (int a = 0; a < mesh_.count; ++a) in = in && ((mask >> a & 1u) != 0 || mesh_.coordinate(rank, a) == 0);
      if (in) all.push_back(rank);
    }
    return all;
  }
  std::vector<part> parts_of(value const& v, int position) const { return parts_of(v, position, all_ranks()); }
  /// The parts in their order, the empty ones last as one.
  std::vector<part> parts_of(value const& v, int position, std::vector<std::int64_t> const& ranks) const {
    std::vector<part> parts;
    part empty{};
    for (std::int64_t rank : ranks) {
      interval const mine = held(v, position, rank);
      if (mine.count == 0) {
        empty.ranks.push_back(rank);
        continue;
      }
      auto const same = std::ranges::find_if(parts, [&](part const& p) { return p.held == mine; });
      if (same == parts.end()) parts.push_back({mine, {rank}});
      else same->ranks.push_back(rank);
    }
    std::ranges::sort(parts, {}, [](part const& p) { return p.held.begin; });
    if (!empty.ranks.empty()) parts.push_back(empty);
    return parts;
  }
  static std::vector<band::segment> segments(std::vector<part> const& parts) {
    std::vector<band::segment> all;
    for (part const& p : parts)
      if (p.held.count != 0) all.push_back({p.held.begin, p.held.begin + p.held.count, ranks_text(p.ranks)});
    return all;
  }
  static std::string nothing_held(std::vector<part> const& parts) {
    if (parts.empty() || parts.back().held.count != 0) return "";
    std::vector<std::int64_t> const& ranks = parts.back().ranks;
    return "  " + std::string(ranks.size() == 1 ? "rank " : "ranks ") + ranks_text(ranks, 60) +
           (ranks.size() == 1 ? " holds" : " hold") + " no element\n";
  }
  /// `n (10) over data = 4`
  std::string heading(value const& v, int position) const {
    std::string text = dim(v.dims.at[position]) + " (" + std::to_string(extent(v, position)) + ")";
    for (int o = 0, a = 0; (a = v.layout.axis_at(position, o)) >= 0; ++o)
      if (numbers_.axis[a] > 1)
        text += (text.ends_with(')') ? " over " : ", ") + axis(a) + " = " + std::to_string(numbers_.axis[a]);
    return text;
  }
  /// The bands with at most so many segments, one with dots for those in between.
  static std::vector<band> shortened(std::vector<band> const& bands, std::size_t most) {
    std::size_t longest = 0;
    for (std::size_t b = 1; b < bands.size(); ++b)
      if (bands[b].segments.size() > bands[longest].segments.size()) longest = b;
    std::vector<band::segment> const& all = bands[longest].segments;
    if (all.size() <= most) return bands;
    std::int64_t const begin = all[most - 3].end, end = all[all.size() - 2].begin;  // what lies between is left out
    std::vector<band> shorter;
    for (band const& b : bands) {
      shorter.push_back({b.name, {}});
      bool open = false;
      for (band::segment const& s : b.segments) {
        if (s.end <= begin || s.begin >= end) shorter.back().segments.push_back(s);
        else if (open) shorter.back().segments.back().end = s.end;
        else shorter.back().segments.push_back({s.begin, s.end, "..."}), open = true;
      }
    }
    return shorter;
  }
  /// A heading, the bounds of the parts, and a line for each band, without the last ones if they do not fit.
  static std::string lines(std::string const& title, std::int64_t extent, std::vector<band> const& bands) {
    std::size_t margin = 0;
    for (band const& b : bands) margin = std::max(margin, b.name.size());
    for (std::size_t most = 17;; --most) {
      std::vector<band> const drawn = shortened(bands, most);
      bool const is_whole = drawn[0].segments.size() == bands[0].segments.size();
      scale const s(extent, drawn, is_whole ? 40 : 0);
      bool const fits = margin + 4 + s.width() <= picture_columns;
      if (!fits && most > 3) continue;
      if (!fits && bands.size() > 1) return lines(title, extent, {bands.begin(), bands.end() - 1});
      std::string text = cut("  " + title) + "\n" + std::string(margin + 4, ' ') + s.numbers() + "\n";
      for (band const& b : drawn)
        text += "  " + b.name + std::string(margin + 2 - b.name.size(), ' ') + s.row(b) + "\n";
      return text;
    }
  }

  /// Two sharded dims: one downwards, one to the right; empty if it has too many parts.
  std::string grid(value const& v, int down, int right) const {
    constexpr std::size_t most = 9;
    auto const rows = parts_of(v, down), columns = parts_of(v, right);
    if (rows.size() > most || columns.size() > most || rows.back().held.count == 0 || columns.back().held.count == 0)
      return "";
    std::vector<band> cells;
    for (part const& r : rows) {
      std::vector<band::segment> row;
      for (part const& c : columns) {
        std::vector<std::int64_t> both;
        std::ranges::set_intersection(r.ranks, c.ranks, std::back_inserter(both));
        if (both.empty()) return "";  // the parts of one dim depend on those of the other
        row.push_back({c.held.begin, c.held.begin + c.held.count, ranks_text(both)});
      }
      cells.push_back({"", row});
    }
    scale const s(extent(v, right), cells, 40);
    std::size_t const margin = std::to_string(extent(v, down)).size();
    if (margin + 3 + s.width() > picture_columns) return "";
    std::string const indent(margin + 3, ' ');
    auto const bound = [&](std::int64_t n) {
      std::string const text = std::to_string(n);
      return "  " + std::string(margin - text.size(), ' ') + text + " ";
    };
    std::string text =
        cut("  down: " + heading(v, down) + "; to the right: " + heading(v, right) + "; in the cells: ranks") + "\n" +
        indent + s.numbers() + "\n";
    for (std::size_t i = 0; i < rows.size(); ++i)
      text += bound(rows[i].held.begin) + s.rule(cells[i]) + "\n" + indent + s.row(cells[i]) + "\n";
    return text + bound(extent(v, down)) + s.rule(cells.back()) + "\n";
  }

  static constexpr std::size_t most_lines = 16;
  std::string box_text(value const& v, std::vector<int> const& positions, std::vector<interval> const& held) const {
    std::string text;
    for (std::size_t k = 0; k < positions.size(); ++k)
      text += (k == 0 ? "" : ", ") + dim(v.dims.at[positions[k]]) + " " +
              (held[k].count == 0 ? "none" : elements_text(held[k].begin, held[k].count));
    return text;
  }
  static std::string cut(std::string line) {
    if (line.size() <= picture_columns) return line;
    std::size_t end = picture_columns - 3;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0u) == 0x80u) --end;  // inside a character of UTF-8
    return line.substr(0, end) + "...";
  }
  std::string table_of_boxes(value const& v, std::vector<int> const& sharded) const {
    std::string text;
    for (int d : sharded) text += cut("  " + heading(v, d)) + "\n";
    std::vector<std::pair<std::string, std::vector<std::int64_t>>> boxes;
    for (std::int64_t rank : all_ranks()) {
      std::vector<interval> mine;
      for (int d : sharded) mine.push_back(held(v, d, rank));
      std::string const box = box_text(v, sharded, mine);
      auto const same = std::ranges::find_if(boxes, [&](auto const& b) { return b.first == box; });
      if (same == boxes.end()) boxes.push_back({box, {rank}});
      else same->second.push_back(rank);
    }
    for (std::size_t i = 0; i < std::min(most_lines, boxes.size()); ++i)
      text += cut("  " + ranks_text(boxes[i].second, 30) + ": " + boxes[i].first) + "\n";
    if (boxes.size() > most_lines) text += "  and " + std::to_string(boxes.size() - most_lines) + " more\n";
    return text;
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
  /// The pieces of a shift along one dim, in the order of the result; empty if other dims change hands, too.
  std::string pieces_along(value const& x, value const& y, movement const& m, positions at,
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
        comm::each_piece(m, at, j, q, [&](comm::moved_piece const& p) {
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
  std::string table_of_pieces(value const& x, movement const& m, positions at,
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
        comm::each_piece(m, at, j, q, [&](comm::moved_piece const& p) {
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

  binding const& numbers_;
  mesh_shape const& mesh_;
};

}  // namespace detail

/// The parts of a program's inputs, parameters and outputs, and the pieces of its moves, as text of at most 100
/// columns: which rank holds which elements, and from which rank they come. Tensors that lie alike share a picture; one
/// that no axis shards has none.
template <class = lazy>
std::string pictures(module const& graph, plan const& planned, mesh_shape const& mesh) {
  return detail::picture_writer(graph, planned, mesh).all();
}

#if MESHTENSOR_COMPILED
extern template std::string pictures<lazy>(module const&, plan const&, mesh_shape const&);
#endif

}  // namespace meshtensor

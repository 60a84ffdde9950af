// SPDX-License-Identifier: Apache-2.0
// Draws which rank holds which elements of a tensor.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/emit/bands.hpp"
#include "meshtensor/graph/spell.hpp"
#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/pass/plan_memory.hpp"

namespace meshtensor::detail {

class parts_writer : protected speller {
 public:
  /// The elements of a dim that some ranks hold.
  struct part {
    interval held;
    std::vector<std::int64_t> ranks;
  };

  parts_writer(module const& m, plan const& p, mesh_shape const& mesh) : speller(m), numbers_(p.numbers), mesh_(mesh) {}

  /// The parts of a tensor. The text is empty if no dim of the tensor is sharded.
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

 protected:
  /// Calls with the name and the value of each input, parameter, state and output.
  template <class Call>
  void each_port(Call const& call) const {
    for (int i = 0; i < m_.node_count; ++i) {
      node const& n = m_.nodes[i];
      if (m_.regions[n.region].removed) continue;
      if (n.kind == primitive::input) call(label(name_of(n)), m_.result_value(n));
      if (n.kind == primitive::output) call(output_name(n), m_.operand_value(n, 0));
      if (n.kind == primitive::read) call(path(m_.variables[variable_of(n)].path), m_.result_value(n));
    }
  }
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
  std::vector<part> parts_of(value const& v, int position) const { return parts_of(v, position, all_ranks()); }
  /// The parts in their order. All empty parts are joined into one, which comes last.
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
  /// The bands with at most `most` segments. One segment with dots stands for the segments that are left out.
  static std::vector<band> shortened(std::vector<band> const& bands, std::size_t most) {
    std::size_t longest = 0;
    for (std::size_t b = 1; b < bands.size(); ++b)
      if (bands[b].segments.size() > bands[longest].segments.size()) longest = b;
    std::vector<band::segment> const& all = bands[longest].segments;
    if (all.size() <= most) return bands;
    std::int64_t const begin = all[most - 3].end, end = all[all.size() - 2].begin;  // these are left out
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
  /// A heading, the bounds of the parts, and a line for each band. If they do not fit, the last bands are left out.
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

  /// Two sharded dims, one downwards and one to the right. The text is empty if they have too many parts for a picture,
  /// or if the parts of one dim depend on those of the other.
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

  binding const& numbers_;
  mesh_shape const& mesh_;
};

}  // namespace meshtensor::detail

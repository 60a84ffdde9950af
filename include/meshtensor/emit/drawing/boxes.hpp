// SPDX-License-Identifier: Apache-2.0
// Draws the elements of one tensor as boxes in the colours of the ranks that hold them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/emit/bands.hpp"
#include "meshtensor/emit/canvas.hpp"
#include "meshtensor/emit/drawing/rank_colours.hpp"
#include "meshtensor/emit/drawing/strips.hpp"
#include "meshtensor/emit/picture_of_parts.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

class boxes_writer : protected parts_writer {
 protected:
  using parts_writer::parts_writer;
  using style = canvas::style;
  static constexpr int line = 18;

  void draw_boxes(canvas& c, value const& of, int y) const {
    std::vector<int> sharded, whole;
    for (int d = 0; d < of.dims.count; ++d) (numbers_.parts(of, d) > 1 ? sharded : whole).push_back(d);
    std::ranges::sort(whole, {}, [&](int d) { return std::pair(-extent(of, d), d); });
    for (int d : whole)
      if (sharded.size() < 2) sharded.push_back(d);
    std::ranges::sort(sharded);
    if (sharded.size() > 2) lines(c, 0, y - line, table_of_boxes(of, sharded));
    else if (sharded.empty()) cell(c, all_ranks(), 0, y, 3 * cell_height, cell_height);
    else grid(c, y, of, sharded.size() == 2 ? sharded[0] : -1, sharded.back());
  }

  static void lines(canvas& c, int x, int y, std::string const& text) {
    for (std::size_t from = 0, to = 0; from < text.size(); from = to + 1) {
      to = std::min(text.find('\n', from), text.size());
      y += line;
      std::string const one = text.substr(from, to - from);
      if (std::size_t const begin = one.find_first_not_of(' '); begin != std::string::npos)
        c.text(x + static_cast<int>(begin) * 8, y, unbroken(one.substr(begin)), style::note);
    }
  }

 private:
  static constexpr int cell_height = 26, widest = 240, tallest = 110;

  /// Draws one dim to the right and another one downwards, if there is one.
  void grid(canvas& c, int y, value const& v, int down, int right) const {
    std::vector<part> const rows = down < 0 ? std::vector<part>{{{0, 1}, all_ranks()}} : parts_of(v, down);
    std::vector<part> const columns = parts_of(v, right);
    auto const room = [](std::vector<part> const& parts, std::size_t most, int each) {  // for labels
      return static_cast<int>(std::min(parts.size(), most)) * each;
    };
    int const height =
        down < 0 ? cell_height
                 : std::max(pixels_of_dim(extent(v, down), rows.size(), cell_height / 2, tallest), room(rows, 8, 22));
    int const width =
        std::max(pixels_of_dim(extent(v, right), columns.size(), cell_height, widest), room(columns, 4, 72));
    std::string const of_rows = down < 0 ? "" : dim_text(v, down);
    int const x = down < 0 ? 0 : canvas::width_of(of_rows, style::note) + 8;
    c.text(x, y + 10, dim_text(v, right), style::note);
    y += line;
    if (down >= 0) c.text(0, y + height / 2 + 4, of_rows, style::note);
    for (strip const& r : strips_of_parts(rows, down < 0 ? 1 : extent(v, down), height))
      for (strip const& s : strips_of_parts(columns, extent(v, right), width)) {
        if (r.of == nullptr || s.of == nullptr) {
          c.text(x + s.begin + s.size / 2, y + r.begin + r.size / 2 + 4, "...", style::note, true);
          continue;
        }
        std::vector<std::int64_t> both;
        std::ranges::set_intersection(r.of->ranks, s.of->ranks, std::back_inserter(both));
        if (!both.empty()) cell(c, both, x + s.begin, y + r.begin, s.size, r.size);
      }
    c.frame(x, y, width, height);
  }

  /// Draws a part in the colours of the ranks that hold it, or in grey if there are too many.
  void cell(canvas& c, std::vector<std::int64_t> const& ranks, int x, int y, int width, int height) const {
    std::vector<std::string> colours;
    for (std::int64_t rank : ranks) colours.push_back(colour_of_rank(mesh_, rank));
    if (ranks.size() > most_colours_of_one) colours = {colour_of_many};
    c.rectangle(x, y, width, height, colours, (ranks.size() == 1 ? "rank " : "ranks ") + ranks_text(ranks, 60));
    c.frame(x, y, width, height);
    std::string const text = ranks_text(ranks, static_cast<std::size_t>(std::max(width / 8, 1)));
    int const wide = canvas::width_of(text, style::label);
    if (wide + 8 > width || height < 20) return;
    if (ranks.size() > 1) c.rectangle(x + (width - wide) / 2 - 3, y + height / 2 - 8, wide + 6, 16, {"#ffffffcc"});
    c.text(x + width / 2, y + height / 2 + 4, text, style::label, true);
  }

  std::string dim_text(value const& v, int position) const {
    return dim(v.dims.at[position]) + " (" + std::to_string(extent(v, position)) + ")";
  }
  /// The text with blanks that do not collapse into one.
  static std::string unbroken(std::string const& text) {
    std::string all;
    for (char c : text) all += c == ' ' ? std::string("\u00a0") : std::string(1, c);
    return all;
  }
};

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"

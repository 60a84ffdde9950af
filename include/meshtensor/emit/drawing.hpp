// SPDX-License-Identifier: Apache-2.0
// Draws which rank holds which elements of a program's inputs, parameters and outputs as an SVG image.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/emit/canvas.hpp"
#include "meshtensor/emit/picture_of_parts.hpp"
#include "meshtensor/emit/report/exchanges.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {
namespace detail {

class drawing_writer : parts_writer {
  using style = canvas::style;

 public:
  drawing_writer(module const& m, plan const& p, mesh_shape const& mesh) : parts_writer(m, p, mesh), plan_(p) {}

  /// The image of all figures, and of the collectives of a step below them.
  std::string image() {
    draw();
    lines(canvas_, left, y_, exchanges_of_report(m_, plan_).text());
    return canvas_.image();
  }

  /// The tensors that have the same dims and layout.
  struct figure {
    value of;
    std::string type;
    std::vector<std::string> names;
  };
  std::vector<figure> figures() const {
    std::vector<figure> all;
    each_port([&](std::string const& name, value const& v) { add(all, name, v); });
    return all;
  }
  /// The boxes of a figure, without its name and type.
  canvas boxes(figure const& f) const {
    canvas c;
    draw_boxes(c, f, 0);
    return c;
  }
  std::string title() const {
    std::string text, sizes;
    for (int i = 0; i < m_.region_count && text.empty(); ++i)
      if (m_.regions[i].kind == region_kind::entry && !m_.regions[i].removed) text = label(m_.regions[i].label);
    for (int a = 0; a < mesh_.count; ++a)
      sizes += (a == 0 ? " on the mesh " : ", ") + axis(a) + " = " + std::to_string(mesh_.axes[a].extent);
    return text + sizes;
  }
  struct legend_entry {
    std::string colour, text;
  };
  /// The colours of the ranks, as many as there is room for. An entry without a colour says how many ranks are left
  /// out.
  std::vector<legend_entry> legend() const {
    std::vector<legend_entry> all;
    std::int64_t const shown = std::min<std::int64_t>(mesh_.size(), 12);
    for (std::int64_t rank = 0; rank < shown; ++rank) all.push_back({colour(rank), "rank " + std::to_string(rank)});
    if (shown < mesh_.size()) all.push_back({"", "and " + std::to_string(mesh_.size() - shown) + " more"});
    if (mesh_.size() > static_cast<std::int64_t>(most_colours))
      all.push_back({grey, "more than " + std::to_string(most_colours) + " ranks hold it"});
    return all;
  }

 private:
  /// The position of a part along a drawn dim.
  struct strip {
    part const* of;  // null if it stands for the parts that are left out
    int begin, size;
  };
  static constexpr int left = canvas::margin, line = 18, gap = 22, cell_height = 26, widest = 240, tallest = 110,
                       page = 760;
  static constexpr std::size_t most_parts = 16, most_colours = 8;
  static constexpr char const* grey = "#c4ccd4";

  void draw() {
    y_ = canvas::margin + 14;
    canvas_.text(left, y_, title(), style::title);
    y_ += 12;
    draw_legend();
    in_rows(figures());
  }
  void draw_legend() {
    int x = left;
    for (legend_entry const& e : legend()) {
      if (int const right = x + 20 + canvas::width_of(e.text, style::note); x > left && right > page) {
        x = left, y_ += line;
      }
      if (!e.colour.empty()) canvas_.rectangle(x, y_ + 6, 14, 14, {e.colour}), x += 20;
      canvas_.text(x, y_ + 18, e.text, style::note);
      x += canvas::width_of(e.text, style::note) + 16;
    }
    y_ += 32;
  }

  void add(std::vector<figure>& figures, std::string const& name, value const& v) const {
    std::string const type = "[" + dims(v.dims, v.layout) + "]";
    for (figure& f : figures)
      if (f.type == type) return f.names.push_back(name);
    figures.push_back({v, type, {name}});
  }

  /// Draws the figures from left to right, as many in a row as there is room for.
  void in_rows(std::vector<figure> const& figures) {
    int x = left, height = 0;
    for (figure const& f : figures) {
      canvas const one = drawn(f);
      if (x > left && x + one.right() > page) x = left, y_ += height + gap, height = 0;
      canvas_.place(x, y_, one);
      x += one.right() + gap, height = std::max(height, one.bottom());
    }
    y_ += height + gap;
  }
  canvas drawn(figure const& f) const {
    canvas c;
    std::size_t const more = f.names.size() - 1;
    c.text(0, line, f.names[0] + (more == 0 ? "" : " and " + std::to_string(more) + " more"), style::name);
    c.text(0, 2 * line, f.of.dims.count == 0 ? "scalar" : f.type, style::note);
    draw_boxes(c, f, 2 * line + 10);
    return c;
  }
  void draw_boxes(canvas& c, figure const& f, int y) const {
    std::vector<int> sharded, whole;
    for (int d = 0; d < f.of.dims.count; ++d) (numbers_.parts(f.of, d) > 1 ? sharded : whole).push_back(d);
    std::ranges::sort(whole, {}, [&](int d) { return std::pair(-extent(f.of, d), d); });
    for (int d : whole)
      if (sharded.size() < 2) sharded.push_back(d);
    std::ranges::sort(sharded);
    if (sharded.size() > 2) lines(c, 0, y - line, table_of_boxes(f.of, sharded));
    else if (sharded.empty()) cell(c, all_ranks(), 0, y, 3 * cell_height, cell_height);
    else grid(c, y, f.of, sharded.size() == 2 ? sharded[0] : -1, sharded.back());
  }

  /// Draws one dim to the right and another one downwards, if there is one.
  void grid(canvas& c, int y, value const& v, int down, int right) const {
    std::vector<part> const rows = down < 0 ? std::vector<part>{{{0, 1}, all_ranks()}} : parts_of(v, down);
    std::vector<part> const columns = parts_of(v, right);
    auto const room = [](std::vector<part> const& parts, std::size_t most, int each) {  // for labels
      return static_cast<int>(std::min(parts.size(), most)) * each;
    };
    int const height =
        down < 0 ? cell_height
                 : std::max(pixels(extent(v, down), rows.size(), cell_height / 2, tallest), room(rows, 8, 22));
    int const width = std::max(pixels(extent(v, right), columns.size(), cell_height, widest), room(columns, 4, 72));
    std::string const of_rows = down < 0 ? "" : dim_text(v, down);
    int const x = down < 0 ? 0 : canvas::width_of(of_rows, style::note) + 8;
    c.text(x, y + 10, dim_text(v, right), style::note);
    y += line;
    if (down >= 0) c.text(0, y + height / 2 + 4, of_rows, style::note);
    for (strip const& r : strips(rows, down < 0 ? 1 : extent(v, down), height))
      for (strip const& s : strips(columns, extent(v, right), width)) {
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

  static void lines(canvas& c, int x, int y, std::string const& text) {
    for (std::size_t from = 0, to = 0; from < text.size(); from = to + 1) {
      to = std::min(text.find('\n', from), text.size());
      y += line;
      std::string const one = text.substr(from, to - from);
      if (std::size_t const begin = one.find_first_not_of(' '); begin != std::string::npos)
        c.text(x + static_cast<int>(begin) * 8, y, unbroken(one.substr(begin)), style::note);
    }
  }
  /// The text with blanks that do not collapse into one.
  static std::string unbroken(std::string const& text) {
    std::string all;
    for (char c : text) all += c == ' ' ? std::string("\u00a0") : std::string(1, c);
    return all;
  }

  /// Draws a part in the colours of the ranks that hold it, or in grey if there are too many.
  void cell(canvas& c, std::vector<std::int64_t> const& ranks, int x, int y, int width, int height) const {
    std::vector<std::string> colours;
    for (std::int64_t rank : ranks) colours.push_back(colour(rank));
    if (ranks.size() > most_colours) colours = {grey};
    c.rectangle(x, y, width, height, colours, (ranks.size() == 1 ? "rank " : "ranks ") + ranks_text(ranks, 60));
    c.frame(x, y, width, height);
    std::string const text = ranks_text(ranks, static_cast<std::size_t>(std::max(width / 8, 1)));
    int const wide = canvas::width_of(text, style::label);
    if (wide + 8 > width || height < 20) return;
    if (ranks.size() > 1) c.rectangle(x + (width - wide) / 2 - 3, y + height / 2 - 8, wide + 6, 16, {"#ffffffcc"});
    c.text(x + width / 2, y + height / 2 + 4, text, style::label, true);
  }

  /// The colour of a rank. Ranks along the first axis differ in hue, and along the others in brightness.
  std::string colour(std::int64_t rank) const {
    std::int64_t const first = mesh_.count == 0 ? 1 : mesh_.axes[0].extent;
    std::int64_t const rest = std::max<std::int64_t>(mesh_.size() / std::max<std::int64_t>(first, 1), 1);
    bool const by_first = mesh_.count > 1 && first > 1 && rest > 1;
    std::int64_t const hues = by_first ? first : mesh_.size();
    std::int64_t const hue = by_first ? mesh_.coordinate(rank, 0) : rank, shade = by_first ? rank % rest : 0;
    std::int64_t const angle = (205 + 360 * hue / std::max<std::int64_t>(hues, 1)) % 360;
    std::int64_t const light = 84 - 24 * shade / std::max<std::int64_t>(rest - 1, 1);
    return "hsl(" + std::to_string(angle) + ",62%," + std::to_string(light) + "%)";
  }

  std::string dim_text(value const& v, int position) const {
    return dim(v.dims.at[position]) + " (" + std::to_string(extent(v, position)) + ")";
  }
  /// The size of a dim in pixels. It grows with the logarithm of the extent, and has room for each part.
  static int pixels(std::int64_t extent, std::size_t parts, int least, int most) {
    int size = least;
    for (std::int64_t e = 1; e < extent && size < most; e *= 2) size += least;
    auto const room = static_cast<int>(std::min(parts, most_parts)) * least;
    return std::min(std::max(size, std::min(room, most)), most);
  }
  /// The positions of the parts of a dim. If there are too many parts, only the first and the last ones are drawn.
  static std::vector<strip> strips(std::vector<part> const& parts, std::int64_t extent, int size) {
    std::vector<strip> all;
    bool const is_whole = parts.size() <= most_parts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].held.count == 0) continue;
      if (is_whole) {
        int const begin = at(parts[i].held.begin, extent, size);
        all.push_back({&parts[i], begin, at(parts[i].held.begin + parts[i].held.count, extent, size) - begin});
        continue;
      }
      constexpr std::size_t first = most_parts / 2;
      if (i >= first && i + 2 < parts.size()) continue;
      auto const slot = static_cast<int>(i < first ? i : most_parts - (parts.size() - i));
      all.push_back({&parts[i], slot * size / static_cast<int>(most_parts), size / static_cast<int>(most_parts)});
    }
    if (!is_whole) {
      constexpr int slots = static_cast<int>(most_parts), first = slots / 2;
      all.push_back({nullptr, first * size / slots, (slots - 2 - first) * size / slots});
    }
    return all;
  }
  static int at(std::int64_t element, std::int64_t extent, int size) {
    return static_cast<int>(static_cast<double>(element) / static_cast<double>(std::max<std::int64_t>(extent, 1)) *
                            size);
  }

  plan const& plan_;
  canvas canvas_;
  int y_ = 0;
};

}  // namespace detail

/// Draws the parts of a program's inputs, parameters and outputs as an SVG image. Each cell has the numbers and the
/// colours of the ranks that hold its elements. Tensors with equal dims and layouts share a figure. The collectives of
/// a step stand below the figures. Each has the bytes that a rank receives and the line that causes it.
template <class = lazy>
std::string drawing(module const& graph, plan const& planned, mesh_shape const& mesh) {
  return detail::drawing_writer(graph, planned, mesh).image();
}

#if MESHTENSOR_COMPILED
extern template std::string drawing<lazy>(module const&, plan const&, mesh_shape const&);
#endif

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

// SPDX-License-Identifier: Apache-2.0
// Draws which rank holds which elements of a program's inputs, parameters and outputs as an SVG image.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/emit/canvas.hpp"
#include "meshtensor/emit/drawing/boxes.hpp"
#include "meshtensor/emit/drawing/rank_colours.hpp"
#include "meshtensor/emit/picture_of_parts.hpp"
#include "meshtensor/emit/report/collectives.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

namespace detail {

class drawing_writer : boxes_writer {
 public:
  drawing_writer(module const& m, plan const& p, mesh_shape const& mesh) : boxes_writer(m, p, mesh), plan_(p) {}

  /// The image of all figures, and of the collectives of a step below them.
  std::string image() {
    draw();
    lines(canvas_, left, y_, collectives_of_report(m_, plan_).text());
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
    draw_boxes(c, f.of, 0);
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
  /// The colours of the ranks, as `legend_of_ranks`.
  std::vector<legend_entry> legend() const { return legend_of_ranks(mesh_); }

 private:
  static constexpr int left = canvas::margin, gap = 22, page = 760;

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
    draw_boxes(c, f.of, 2 * line + 10);
    return c;
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

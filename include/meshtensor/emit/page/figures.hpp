// SPDX-License-Identifier: Apache-2.0
// The part of a page that shows which rank holds which elements: one figure for all tensors with equal dims and
// layouts.
#pragma once

#include <string>

#include "meshtensor/emit/drawing.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// A path that a browser may break behind each slash.
inline std::string breakable(std::string const& path) {
  std::string all;
  for (char c : canvas::escaped(path)) all += c == '/' ? std::string("/<wbr>") : std::string(1, c);
  return all;
}
/// The names of a figure's tensors. The first one is shown, and the others if the reader asks for them.
inline std::string names_of_figure(std::vector<std::string> const& names) {
  std::string const first = "<b>" + breakable(names[0]) + "</b>";
  if (names.size() == 1) return first;
  std::string all = "<details><summary>" + first + " and " + std::to_string(names.size() - 1) + " more</summary>";
  for (std::size_t i = 1; i < names.size(); ++i) all += (i == 1 ? "" : "<br>") + breakable(names[i]);
  return all + "</details>";
}

inline std::string figures_of_page(module const& m, plan const& p, mesh_shape const& mesh) {
  drawing_writer const drawn(m, p, mesh);
  std::string all = "<p>" + canvas::escaped(drawn.title()) + "</p>\n<ul class=\"legend\">\n";
  for (auto const& [colour, text] : drawn.legend())
    all += "<li>" + (colour.empty() ? "" : "<span class=\"colour\" style=\"background:" + colour + "\"></span>") +
           text + "</li>\n";
  all += "</ul>\n<div class=\"figures\">\n";
  for (auto const& f : drawn.figures())
    all += "<figure>\n<figcaption>" + names_of_figure(f.names) + "<div class=\"quiet\">" +
           breakable(f.of.dims.count == 0 ? "scalar" : f.type) + "</div></figcaption>\n" +
           drawn.boxes(f).image_of_page() + "</figure>\n";
  return all + "</div>\n";
}

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"

// SPDX-License-Identifier: Apache-2.0
// An SVG image of rectangles, lines and texts, whose positions are whole pixels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

class canvas {
 public:
  enum class style : std::uint8_t { title, name, note, label, line };

  /// A rectangle in one colour, or in several that alternate in slanting bands. Browsers show `title` under the
  /// pointer.
  void rectangle(int x, int y, int width, int height, std::vector<std::string> const& colours,
                 std::string_view title = "") {
    std::string fill = colours[0];
    if (colours.size() > 1) fill = "url(#" + bands_of(colours) + ")";
    elements_ += "<rect" + box(x, y, width, height) + " fill=\"" + fill + "\"";
    elements_ += title.empty() ? "/>\n" : "><title>" + escaped(title) + "</title></rect>\n";
    reach(x + width, y + height);
  }
  void frame(int x, int y, int width, int height) {
    elements_ += "<rect class=\"frame\"" + box(x, y, width, height) + "/>\n";
    reach(x + width, y + height);
  }
  /// An area between points, `x,y x,y`, with a text that browsers show under the pointer.
  void area(std::string const& points, std::string const& fill, std::string_view title) {
    elements_ +=
        "<polygon points=\"" + points + "\" fill=\"" + fill + "\"><title>" + escaped(title) + "</title></polygon>\n";
  }
  /// A line between points, `x,y x,y`. `dashes` are the lengths of its dashes and gaps, or nothing.
  void polyline(std::string const& points, std::string const& colour, int width = 2, std::string const& dashes = "",
                std::string_view title = "") {
    elements_ += "<polyline points=\"" + points + "\" fill=\"none\" stroke=\"" + colour + "\"" +
                 pair("stroke-width", width) + " stroke-linejoin=\"round\"";
    if (!dashes.empty()) elements_ += " stroke-dasharray=\"" + dashes + "\"";
    elements_ += title.empty() ? "/>\n" : "><title>" + escaped(title) + "</title></polyline>\n";
  }
  /// A circle, which is a ring if it is not filled.
  void circle(int x, int y, int radius, std::string const& colour, bool is_filled, std::string_view title = "") {
    elements_ += "<circle" + pair("cx", x) + pair("cy", y) + pair("r", radius) + " fill=\"" +
                 (is_filled ? colour : "none") + "\" stroke=\"" + colour + "\"" + pair("stroke-width", 2);
    elements_ += title.empty() ? "/>\n" : "><title>" + escaped(title) + "</title></circle>\n";
    reach(x + radius, y + radius);
  }
  /// Places another canvas, with its origin at a point of this one.
  void place(int x, int y, canvas const& other) {
    elements_ += "<g transform=\"translate(" + std::to_string(x) + " " + std::to_string(y) + ")\">\n" +
                 other.elements_ + "</g>\n";
    for (std::string const& pattern : other.patterns_)
      if (std::ranges::find(patterns_, pattern) == patterns_.end()) patterns_.push_back(pattern);
    reach(x + other.right_, y + other.bottom_);
  }
  int right() const { return right_; }
  int bottom() const { return bottom_; }
  /// A text that begins at x, or whose middle is at x if it is centred. `y` is its base line.
  void text(int x, int y, std::string_view what, style s, bool is_centred = false) {
    elements_ += std::string("<text class=\"") + name_of(s) + (is_centred ? " centred" : "") + "\"" + pair("x", x) +
                 pair("y", y) + ">" + escaped(what) + "</text>\n";
    int const width = width_of(what, s);
    reach(is_centred ? x + width / 2 : x + width, y);
  }

  static int width_of(std::string_view what, style s) {
    auto const letters =
        std::ranges::count_if(what, [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; });
    return static_cast<int>(letters) * (s == style::title ? 9 : 8);
  }

  /// The image, large enough for everything on it and a margin. It is dark if the reader prefers dark pages.
  std::string image() const {
    return head(right_ + margin, bottom_ + margin) + "<style>" + style_sheet() + "@media(prefers-color-scheme:dark){" +
           dark_style_sheet() + "}</style>\n" + definitions() +
           "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n" + elements_ + "</svg>\n";
  }
  /// The image without its margin, its background and its style, for a page that has `style_sheet`.
  std::string image_of_page() const { return head(right_ + 1, bottom_ + 1) + definitions() + elements_ + "</svg>\n"; }
  static std::string style_sheet() {
    return "text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:13px;fill:#1f2328;"
           "pointer-events:none}.title{font-size:15px;font-weight:bold}.name{font-weight:bold}.note{fill:#59636e}"
           ".label{font-size:12px}.centred{text-anchor:middle}.frame{fill:none;stroke:#59636e;stroke-width:1}"
           ".paper{fill:#ffffff}";
  }
  /// The rules that differ on a dark page. Labels stay dark, because they stand on light colours.
  static std::string dark_style_sheet() {
    return "text{fill:#e6edf3}.note{fill:#9198a1}.label{fill:#1f2328}.frame{stroke:#9198a1}.paper{fill:#0d1117}";
  }

  static std::string escaped(std::string_view text) {
    std::string safe;
    for (char c : text) {
      if (c == '<') safe += "&lt;";
      else if (c == '>') safe += "&gt;";
      else if (c == '&') safe += "&amp;";
      else if (c == '"') safe += "&quot;";
      else safe += c;
    }
    return safe;
  }

  static constexpr int margin = 16;

 private:
  static std::string head(int width, int height) {
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + std::to_string(width) + " " +
           std::to_string(height) + "\"" + pair("width", width) + pair("height", height) + ">\n";
  }
  std::string definitions() const { return patterns_.empty() ? "" : "<defs>\n" + joined(patterns_) + "</defs>\n"; }
  static std::string pair(char const* name, int value) {
    return std::string(" ") + name + "=\"" + std::to_string(value) + "\"";
  }
  static std::string box(int x, int y, int width, int height) {
    return pair("x", x) + pair("y", y) + pair("width", width) + pair("height", height);
  }
  /// The name of a pattern of these colours. The pattern is added if it is new.
  std::string bands_of(std::vector<std::string> const& colours) {
    constexpr int wide = 14;
    std::string id = "bands", bands;
    for (std::size_t i = 0; i < colours.size(); ++i) {
      for (char c : colours[i])
        if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z')) id += c;
      bands += "<rect" + box(static_cast<int>(i) * wide, 0, wide, wide) + " fill=\"" + colours[i] + "\"/>";
    }
    std::string const pattern = "<pattern id=\"" + id + "\" patternUnits=\"userSpaceOnUse\"" +
                                pair("width", static_cast<int>(colours.size()) * wide) + pair("height", wide) +
                                " patternTransform=\"rotate(35)\">" + bands + "</pattern>\n";
    if (std::ranges::find(patterns_, pattern) == patterns_.end()) patterns_.push_back(pattern);
    return id;
  }
  static std::string joined(std::vector<std::string> const& all) {
    std::string text;
    for (std::string const& one : all) text += one;
    return text;
  }
  static char const* name_of(style s) {
    constexpr char const* names[] = {"title", "name", "note", "label", "line"};
    return names[static_cast<int>(s)];
  }
  void reach(int x, int y) { right_ = std::max(right_, x), bottom_ = std::max(bottom_, y); }

  std::string elements_;
  std::vector<std::string> patterns_;
  int right_ = 0, bottom_ = 0;
};

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"

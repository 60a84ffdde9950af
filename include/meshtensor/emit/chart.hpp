// SPDX-License-Identifier: Apache-2.0
// Draws curves as an SVG image, with axes, a legend, and the points at which the curves cross.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/emit/canvas.hpp"
#include "meshtensor/emit/curve.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// An axis of a chart: the quantity, and its unit if it has one.
struct chart_axis {
  std::string quantity, unit{};

  /// `simulated time (s)`
  std::string title() const { return unit.empty() ? quantity : quantity + " (" + unit + ")"; }
};
/// Curves that share their axes: `mt::chart const losses{"Eight replicas", {"time", "s"}, {"loss"}, {push, reduced}};`.
struct chart {
  std::string title;
  chart_axis x, y;
  std::vector<curve> curves;
};

namespace detail {

/// A number with four digits, and its unit: `0.1235 s`.
inline std::string number_on_chart(double n, std::string const& unit = "") {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.4g", n);
  return digits + (unit.empty() ? "" : " " + unit);
}

/// `push is below synchronous from 1.2 s on, at a loss of 0.5`
inline std::string sentence_of(chart const& c, crossing const& one) {
  return one.below + " is below " + one.above + " from " + number_on_chart(one.x, c.x.unit) + " on, at a " +
         c.y.quantity + " of " + number_on_chart(one.y, c.y.unit);
}

/// Whole multiples of 1, 2 or 5 times a power of ten around the values of an axis, and the pixels at which they stand.
class chart_scale {
 public:
  /// `from` is the pixel of the least tick, and `to` that of the greatest.
  chart_scale(std::vector<double> const& values, int from, int to) : from_(from), to_(to) {
    auto const [least, greatest] = std::minmax_element(values.begin(), values.end());
    double low = values.empty() ? 0 : *least, high = values.empty() ? 1 : *greatest;
    if (low > 0 && low <= 0.5 * high) low = 0;
    double const least_range = std::max(1e-300, 1e-9 * std::max(std::abs(low), std::abs(high)));
    if (!(high - low > least_range)) high = low + (std::abs(low) < 1e-300 ? 1 : std::abs(low) / 2);
    double const rough = high / 5 - low / 5, power = std::pow(10, std::floor(std::log10(rough)));
    step_ = power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
    first_ = std::floor(low / step_), last_ = std::max(first_ + 1, std::ceil(high / step_ * (1 - 1e-12)));
  }
  int pixel(double value) const {
    return from_ + static_cast<int>(std::lround((value / step_ - first_) / (last_ - first_) * (to_ - from_)));
  }
  std::vector<double> ticks() const {
    std::vector<double> all;
    for (double k = first_; k <= last_; ++k) all.push_back(k * step_);
    return all;
  }

 private:
  int from_, to_;
  double step_ = 1, first_ = 0, last_ = 1;  // the ticks, in multiples of the step
};

class chart_writer {
 public:
  explicit chart_writer(chart const& c) : c_(c), crossings_(crossings(c.curves)) {}

  std::string image() {
    canvas_.text(left, canvas::margin + 14, c_.title, canvas::style::title);
    canvas_.text(left, top - 12, c_.y.title(), canvas::style::note);
    draw_axes();
    for (std::size_t i = 0; i < c_.curves.size(); ++i) draw(c_.curves[i], i);
    draw_crossings();
    return canvas_.image();
  }

 private:
  static constexpr int left = 72, top = 76, width = 620, height = 340, legend = left + width + 24;
  static constexpr std::size_t most_told = 8;
  static std::string colour(std::size_t i) {
    constexpr std::array colours{"#3b7dd8", "#d9662c", "#2a9d78", "#b5489b",
                                 "#9a7d0a", "#7766cc", "#cc3344", "#4d8899"};
    return colours[i % colours.size()];
  }
  static std::string dashes(std::size_t i) {
    constexpr std::array all{"", "9 4", "3 3", "12 3 3 3"};
    return all[i % all.size()];
  }
  static std::string pair(int x, int y) { return std::to_string(x) + "," + std::to_string(y); }

  std::vector<double> values(double curve_point::* which) const {
    std::vector<double> all;
    for (curve const& c : c_.curves)
      for (curve_point const& p : c.points)
        if (std::isfinite(p.y)) all.push_back(p.*which);
    return all;
  }
  void draw_axes() {
    constexpr auto grid = "#8b949e40";
    for (double const t : x_.ticks()) {
      int const at = x_.pixel(t);
      canvas_.polyline(pair(at, top) + " " + pair(at, top + height), grid, 1);
      canvas_.text(at, top + height + 20, number_on_chart(t), canvas::style::note, true);
    }
    for (double const t : y_.ticks()) {
      int const at = y_.pixel(t);
      canvas_.polyline(pair(left, at) + " " + pair(left + width, at), grid, 1);
      std::string const text = number_on_chart(t);
      canvas_.text(left - 10 - canvas::width_of(text, canvas::style::note), at + 4, text, canvas::style::note);
    }
    canvas_.frame(left, top, width, height);
    canvas_.text(left + width / 2, top + height + 42, c_.x.title(), canvas::style::note, true);
  }
  /// Each run of points between gaps is a line, and a point alone is a dot.
  void draw(curve const& c, std::size_t i) {
    std::string line;
    std::size_t count = 0, known = 0;
    std::pair<int, int> last;
    auto const finish = [&] {
      if (count == 1) canvas_.circle(last.first, last.second, 3, colour(i), true, c.name);
      else if (count > 1) canvas_.polyline(line, colour(i), 2, dashes(i), c.name);
      line.clear(), count = 0;
    };
    for (curve_point const& p : c.points) {
      if (!std::isfinite(p.y)) {
        finish();
        continue;
      }
      std::pair const at(x_.pixel(p.x), y_.pixel(p.y));
      ++known;
      if (count > 0 && at == last) continue;
      line += (count == 0 ? "" : " ") + pair(at.first, at.second);
      last = at, ++count;
    }
    finish();
    int const y = top + 12 + 40 * static_cast<int>(i);
    canvas_.polyline(pair(legend, y - 4) + " " + pair(legend + 30, y - 4), colour(i), 2, dashes(i));
    canvas_.text(legend + 40, y, c.name, canvas::style::name);
    std::string const told =
        known == 0 ? "no finite point"
        : std::isfinite(c.points.back().y)
            ? number_on_chart(c.points.back().y, c_.y.unit) + " at " + number_on_chart(c.points.back().x, c_.x.unit)
            : "not finite at the end";
    canvas_.text(legend + 40, y + 17, told, canvas::style::note);
  }
  void draw_crossings() {
    int y = top + height + 74;
    auto const tell = [&](std::string const& text) { canvas_.text(left, y, text, canvas::style::note), y += 19; };
    if (c_.curves.size() > 1 && crossings_.empty()) tell("the curves do not cross");
    for (std::size_t i = 0; i < crossings_.size(); ++i) {
      crossing const& one = crossings_[i];
      std::string const text = sentence_of(c_, one);
      int const x = x_.pixel(one.x), at = y_.pixel(one.y);
      canvas_.circle(x, at, 6, "#8b949e", false, text);
      if (i >= most_told) continue;
      canvas_.text(x + 8, at - 8, std::to_string(i + 1), canvas::style::name);
      tell(std::to_string(i + 1) + "  " + text);
    }
    if (crossings_.size() > most_told) tell("and " + std::to_string(crossings_.size() - most_told) + " more crossings");
  }

  chart const& c_;
  std::vector<crossing> crossings_;
  canvas canvas_;
  chart_scale x_{values(&curve_point::x), left, left + width}, y_{values(&curve_point::y), top + height, top};
};

}  // namespace detail

/// Draws a chart as an SVG image: its curves with a legend, axes with units, and rings where the curves cross, which
/// are listed below. The legend gives the last point of each curve. A gap in a curve is a gap in its line.
///
/// errors  R95 the points of a curve do not go from left to right
inline std::string drawing(chart const& c) { return detail::chart_writer(c).image(); }

/// The crossings of a chart's curves, a line for each: `push is below synchronous from 1.2 s on, at a loss of 0.5`.
///
/// errors  R95 the points of a curve do not go from left to right
inline std::string text_of(chart const& c) {
  std::string lines;
  for (crossing const& one : crossings(c.curves)) lines += detail::sentence_of(c, one) + "\n";
  return lines.empty() && c.curves.size() > 1 ? "the curves do not cross\n" : lines;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

// SPDX-License-Identifier: Apache-2.0
// Draws numbers as a curve of plain characters, for a terminal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace examples {

/// Divides `values` into at most `columns` groups of neighbours, as evenly as possible, and returns the mean of each.
inline std::vector<double> means(std::vector<double> const& values, std::size_t columns) {
  columns = std::min(columns, values.size());
  std::vector<double> all;
  for (std::size_t c = 0; c < columns; ++c) {
    std::size_t const begin = c * values.size() / columns, end = (c + 1) * values.size() / columns;
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += values[i];
    all.push_back(sum / static_cast<double>(end - begin));
  }
  return all;
}

/// Draws a curve of finite values, one for each step after the step `first`, in `rows` lines and two more for the axis.
/// Each column shows the mean of its steps. The number before a line is the value in its middle. For example, the
/// values 3, 2 and 1 give:
///
///     3.00 |*
///     2.00 | *
///     1.00 |  *
///          +---
///           0 3  step
inline std::string curve(std::vector<double> const& values, std::int64_t first = 0, int rows = 10, int columns = 60) {
  if (values.empty()) return "";
  auto const points = means(values, static_cast<std::size_t>(columns));
  auto const [least, greatest] = std::minmax_element(points.begin(), points.end());
  double const top = *greatest, unit = (top - *least) / std::max(1, rows - 1);  // between two lines
  std::vector<std::string> lines(static_cast<std::size_t>(rows), std::string(points.size(), ' '));
  for (std::size_t c = 0; c < points.size(); ++c) {
    double const down = unit > 0 ? (top - points[c]) / unit + 0.5 : 0;
    lines[std::min(static_cast<std::size_t>(down), lines.size() - 1)][c] = '*';
  }
  std::string text;
  for (std::size_t r = 0; r < lines.size(); ++r) {
    lines[r].erase(lines[r].find_last_not_of(' ') + 1);
    text += fmt::format("{:8.2f} |{}\n", top - unit * static_cast<double>(r), lines[r]);
  }
  std::string const begin = std::to_string(first);
  std::string const end = std::to_string(first + static_cast<std::int64_t>(values.size()));
  std::size_t const width = std::max(points.size(), begin.size() + 1 + end.size());
  text += fmt::format("{:8} +{}\n", "", std::string(points.size(), '-'));
  text += fmt::format("{:10}{}{:>{}}  step\n", "", begin, end, width - begin.size());
  return text;
}

}  // namespace examples

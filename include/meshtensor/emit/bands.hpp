// SPDX-License-Identifier: Apache-2.0
// Rows of labelled segments along a dim, as lines of text. The columns of a line are in proportion to its elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace meshtensor::detail {

inline constexpr std::size_t picture_columns = 100;

/// `0-3,6`: the numbers in ascending order. A text of more than `most` characters is shortened to the first and the
/// last.
inline std::string ranks_text(std::vector<std::int64_t> const& ranks, std::size_t most = 11) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(ranks[i]);
    if (end - i > 1) text += (end - i == 2 ? "," : "-") + std::to_string(ranks[end - 1]);
    i = end;
  }
  if (text.size() <= most) return text;
  return std::to_string(ranks.front()) + ",..," + std::to_string(ranks.back());
}
/// `4-6` for elements 4, 5 and 6, and `6-4` in the other direction.
inline std::string elements_text(std::int64_t first, std::int64_t count, std::int64_t step = 1) {
  if (count == 1) return std::to_string(first);
  std::string const to = count == 2 && step != 1 && step != -1 ? "," : step == 1 || step == -1 ? "-" : "..";
  return std::to_string(first) + to + std::to_string(first + (count - 1) * step);
}

/// A row of segments along a dim. Each has a label.
struct band {
  struct segment {
    std::int64_t begin, end;
    std::string label;
  };
  std::string name;
  std::vector<segment> segments;
};

/// Places the elements of a dim in the columns of a picture. All of them take `room` columns in proportion, but each
/// segment is at least as wide as its label.
class scale {
 public:
  scale(std::int64_t extent, std::vector<band> const& bands, std::int64_t room) {
    for (band const& b : bands)
      for (band::segment const& s : b.segments) bounds_.push_back(s.begin), bounds_.push_back(s.end);
    bounds_.push_back(0), bounds_.push_back(extent);
    std::ranges::sort(bounds_);
    bounds_.erase(std::unique(bounds_.begin(), bounds_.end()), bounds_.end());
    columns_.push_back(0);
    for (std::size_t i = 1; i < bounds_.size(); ++i) {
      std::size_t at = columns_.back() + std::max<std::size_t>(2, std::to_string(bounds_[i - 1]).size() + 1);
      std::int64_t const count = bounds_[i] - bounds_[i - 1];
      at = std::max(at, columns_.back() + static_cast<std::size_t>(count * std::min(room, 4 * extent) / extent));
      for (band const& b : bands)
        for (band::segment const& s : b.segments)
          if (s.end == bounds_[i]) at = std::max(at, column(s.begin) + s.label.size() + 3);
      columns_.push_back(at);
    }
  }

  std::size_t width() const { return columns_.back() + std::to_string(bounds_.back()).size(); }
  std::size_t column(std::int64_t bound) const {
    auto const at = std::ranges::find(bounds_, bound) - bounds_.begin();
    return columns_[static_cast<std::size_t>(at)];
  }
  /// `0    3    6`
  std::string numbers() const {
    std::string line;
    for (std::size_t i = 0; i < bounds_.size(); ++i) {
      line.resize(columns_[i], ' ');
      line += std::to_string(bounds_[i]);
    }
    return line;
  }
  /// `|  0  |  1  |`
  std::string row(band const& b) const {
    std::string line(columns_.back() + 1, ' ');
    for (band::segment const& s : b.segments) {
      std::size_t const from = column(s.begin), to = column(s.end);
      line[from] = line[to] = '|';
      line.replace(from + 1 + (to - from - 1 - s.label.size()) / 2, s.label.size(), s.label);
    }
    return line.substr(0, line.find_last_not_of(' ') + 1);
  }
  /// `+-----+-----+`
  std::string rule(band const& b) const {
    std::string line(columns_.back() + 1, '-');
    for (band::segment const& s : b.segments) line[column(s.begin)] = line[column(s.end)] = '+';
    return line;
  }

 private:
  std::vector<std::int64_t> bounds_;
  std::vector<std::size_t> columns_;
};

}  // namespace meshtensor::detail

// SPDX-License-Identifier: Apache-2.0
// Formats reports: text in columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace meshtensor::detail {

/// The number of characters of a text in UTF-8, as columns of a terminal count them.
inline std::size_t characters_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

/// The text, or its beginning and `…` if it has more characters than `most`.
inline std::string shortened(std::string_view text, std::size_t most) {
  if (characters_of(text) <= most) return std::string(text);
  std::size_t bytes = 0;
  for (std::size_t characters = 0; bytes < text.size(); ++bytes)
    if ((text[bytes] & 0xc0) != 0x80 && ++characters == std::max<std::size_t>(most, 1)) break;
  return std::string(text.substr(0, bytes)) + "…";
}

/// Rows of cells in columns. Cells that begin with a blank are numbers, so they are aligned to the right.
class table {
 public:
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  std::string text() const {
    std::vector<std::size_t> width;
    for (auto const& row : rows_)
      for (std::size_t c = 0; c < row.size(); ++c) {
        width.resize(std::max(width.size(), c + 1));
        width[c] = std::max(width[c], characters_of(row[c]));
      }
    std::string all;
    for (auto const& row : rows_) {
      std::string line = " ";
      for (std::size_t c = 0; c < row.size(); ++c) {
        std::string const fill(width[c] - characters_of(row[c]), ' ');
        line += " " + (row[c].starts_with(' ') ? fill + row[c] : row[c] + fill) + " ";
      }
      all += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return all;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace meshtensor::detail

// SPDX-License-Identifier: Apache-2.0
// Formats reports: text in columns.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace meshtensor::detail {

/// Rows of cells in columns. Cells that begin with a blank, the numbers, are aligned to the right.
class table {
 public:
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  std::string text() const {
    std::vector<std::size_t> width;
    for (auto const& row : rows_)
      for (std::size_t c = 0; c < row.size(); ++c) {
        width.resize(std::max(width.size(), c + 1));
        width[c] = std::max(width[c], row[c].size());
      }
    std::string all;
    for (auto const& row : rows_) {
      std::string line = " ";
      for (std::size_t c = 0; c < row.size(); ++c) {
        std::string const fill(width[c] - row[c].size(), ' ');
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

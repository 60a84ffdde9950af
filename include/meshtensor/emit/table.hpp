// SPDX-License-Identifier: Apache-2.0
// Formats reports: text in columns, and quantities with three digits.
#pragma once

#include <algorithm>
#include <cstdint>
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

/// `1.23 M`: three digits and a metric prefix; up to four digits unchanged, with a blank.
inline std::string rounded(std::int64_t n) {
  if (n < 10000) return std::to_string(n) + " ";
  char const* letter = "kMGTPE";
  std::int64_t unit = 1000;
  for (; n / 1000 >= unit; unit *= 1000) ++letter;
  std::int64_t const scale = n / unit >= 100 ? 1 : n / unit >= 10 ? 10 : 100;
  std::int64_t const part = unit / scale, digits = n / part + (n % part >= part - n % part ? 1 : 0);
  if (digits == 1000) return rounded(digits * part);
  std::string r = std::to_string(digits / scale);
  if (scale > 1) r += "." + std::to_string(scale + digits % scale).substr(1);
  return r + " " + *letter;
}

}  // namespace meshtensor::detail

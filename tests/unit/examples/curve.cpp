// SPDX-License-Identifier: Apache-2.0
// The curve that examples draw in a terminal has a mark in every column, in the line whose number is nearest to the
// mean of the column's values. The same holds for few values, equal ones and none.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "../../../examples/common/curve.hpp"

namespace {

std::vector<std::string> lines_of(std::string const& text) {
  std::istringstream in(text);
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

/// Of each column, the number before the line that has its mark.
std::vector<double> marked(std::string const& text, std::size_t columns) {
  std::vector<double> found(columns, std::nan(""));
  for (std::string const& line : lines_of(text)) {
    auto const bar = line.find('|');
    if (bar == line.npos) continue;
    for (std::size_t c = bar + 1; c < line.size(); ++c)
      if (line[c] == '*') {
        REQUIRE(c - bar - 1 < columns);
        REQUIRE(std::isnan(found[c - bar - 1]));  // one mark in a column
        found[c - bar - 1] = std::stod(line);
      }
  }
  return found;
}

TEST_CASE("a small curve") {
  CHECK(examples::curve({3, 2, 1}, 0, 3) ==
        "    3.00 |*\n"
        "    2.00 | *\n"
        "    1.00 |  *\n"
        "         +---\n"
        "          0 3  step\n");
  CHECK(examples::curve({1, 4}, 100, 4) ==
        "    4.00 | *\n"
        "    3.00 |\n"
        "    2.00 |\n"
        "    1.00 |*\n"
        "         +--\n"
        "          100 102  step\n");
}

TEST_CASE("every column has one mark, nearest to the mean of its steps") {
  for (std::size_t const count : {1u, 7u, 59u, 60u, 61u, 100u, 1500u}) {
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i)
      values.push_back(1.5 + 4 * std::exp(-8.0 * static_cast<double>(i) / static_cast<double>(count)) +
                       0.3 * std::sin(static_cast<double>(i * i)));
    auto const means = examples::means(values, 60);
    REQUIRE(means.size() == std::min<std::size_t>(count, 60));
    double const range = *std::max_element(means.begin(), means.end()) - *std::min_element(means.begin(), means.end());
    std::string const text = examples::curve(values);
    CHECK(lines_of(text).size() == 12);
    auto const found = marked(text, means.size());
    for (std::size_t c = 0; c < means.size(); ++c) {
      CAPTURE(count);
      CAPTURE(c);
      CHECK(std::abs(found[c] - means[c]) <= range / 9 / 2 + 0.0051);  // half of a line, and two decimals
    }
  }
}

TEST_CASE("groups of neighbours are even, and every value is in one") {
  CHECK(examples::means({1, 2, 3, 4, 5, 6, 7}, 3) == std::vector<double>{1.5, 3.5, 6});
  CHECK(examples::means({1, 2}, 3) == std::vector<double>{1, 2});
}

TEST_CASE("equal values, one value, one line and none") {
  auto const equal = lines_of(examples::curve({2, 2, 2}, 0, 4));
  REQUIRE(equal.size() == 6);
  CHECK(equal[0] == "    2.00 |***");
  CHECK(equal[3] == "    2.00 |");
  CHECK(lines_of(examples::curve({5}))[0] == "    5.00 |*");
  CHECK(lines_of(examples::curve({3, 1}, 0, 1))[0] == "    3.00 |**");
  CHECK(examples::curve({}).empty());
}

}  // namespace

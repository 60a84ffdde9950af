// SPDX-License-Identifier: Apache-2.0
// Resized images beside sums in double, windows beside wholes, and what stays as it is.
#include "meshtensor/datasets/image/resample.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace mt = meshtensor;

namespace {

mt::datasets::image noise(std::int64_t height, std::int64_t width) {
  mt::datasets::image r;
  r.resize(height, width);
  std::uint32_t state = 1;
  for (auto& p : r.pixels) state = state * 1664525u + 1013904223u, p = static_cast<std::uint8_t>(state >> 24);
  return r;
}

/// One row of elements as the definition says: an average under a triangle that is as wide as an element of the result,
/// or of the source if that is wider.
std::vector<double> averaged(std::vector<double> const& from, std::int64_t to) {
  double const scale = static_cast<double>(from.size()) / static_cast<double>(to), reach = std::max(1.0, scale);
  std::vector<double> r;
  for (std::int64_t i = 0; i < to; ++i) {
    double sum = 0, all = 0;
    for (std::size_t k = 0; k < from.size(); ++k) {
      double const apart = std::abs(static_cast<double>(k) + 0.5 - (static_cast<double>(i) + 0.5) * scale);
      double const weight = std::max(0.0, 1 - apart / reach);
      sum += weight * from[k], all += weight;
    }
    r.push_back(sum / all);
  }
  return r;
}
mt::datasets::image averaged(mt::datasets::image const& from, std::int64_t height, std::int64_t width) {
  mt::datasets::image between, to;
  between.resize(from.height, width), to.resize(height, width);
  for (int c = 0; c < 3; ++c) {
    for (std::int64_t y = 0; y < from.height; ++y) {
      std::vector<double> row;
      for (std::int64_t x = 0; x < from.width; ++x) row.push_back(from.row(y)[3 * x + c]);
      row = averaged(row, width);
      for (std::int64_t x = 0; x < width; ++x)
        between.row(y)[3 * x + c] = static_cast<std::uint8_t>(row[static_cast<std::size_t>(x)] + 0.5);
    }
    for (std::int64_t x = 0; x < width; ++x) {
      std::vector<double> column;
      for (std::int64_t y = 0; y < from.height; ++y) column.push_back(between.row(y)[3 * x + c]);
      column = averaged(column, height);
      for (std::int64_t y = 0; y < height; ++y)
        to.row(y)[3 * x + c] = static_cast<std::uint8_t>(column[static_cast<std::size_t>(y)] + 0.5);
    }
  }
  return to;
}

}  // namespace

TEST_CASE("averages under triangles") {
  struct size {
    std::int64_t height, width;
  };
  for (auto const& [from_height, from_width] : {size{17, 23}, {1, 1}, {40, 3}, {2, 64}})
    for (auto const& [height, width] : {size{9, 11}, {17, 5}, {1, 1}, {50, 70}, {3, 100}}) {
      mt::datasets::image const from = noise(from_height, from_width),
                                to = mt::datasets::resampled(from, height, width);
      mt::datasets::image const wanted = averaged(from, height, width);
      int most = 0;
      for (std::size_t i = 0; i < wanted.pixels.size(); ++i)
        most = std::max(most, std::abs(to.pixels[i] - wanted.pixels[i]));
      CHECK(most <= 1);
      CHECK(to.pixels.size() == static_cast<std::size_t>(height * width * 3));
    }
}

TEST_CASE("an image of the same extents stays, and one colour stays itself") {
  mt::datasets::image const from = noise(13, 29);
  CHECK(mt::datasets::resampled(from, 13, 29) == from);
  for (int const colour : {0, 1, 127, 254, 255}) {
    mt::datasets::image one{31, 47, std::vector<std::uint8_t>(31 * 47 * 3, static_cast<std::uint8_t>(colour))};
    for (std::int64_t const size : {1, 7, 30, 100})
      CHECK(mt::datasets::resampled(one, size, size + 1).pixels ==
            std::vector<std::uint8_t>(static_cast<std::size_t>(size * (size + 1) * 3),
                                      static_cast<std::uint8_t>(colour)));
  }
}

TEST_CASE("a window is a part of the whole, and a box alone counts") {
  mt::datasets::image const from = noise(40, 50);
  mt::datasets::image_box const box{5, 7, 30, 37};
  mt::datasets::image cut, seen, rows;
  cut.resize(box.height, box.width);
  for (std::int64_t y = 0; y < box.height; ++y)
    std::copy_n(from.row(box.top + y) + box.left * 3, box.width * 3, cut.row(y));
  for (auto const& [height, width] : {std::pair<std::int64_t, std::int64_t>{12, 19}, {45, 37}, {30, 80}}) {
    mt::datasets::image const whole = mt::datasets::resampled(cut, height, width);
    for (mt::datasets::image_box const& window :
         {mt::datasets::image_box{0, 0, height, width}, mt::datasets::image_box{3, 4, 5, 6},
          mt::datasets::image_box{height - 1, width - 9, 1, 9}, mt::datasets::image_box{2, 2, 0, 3}}) {
      mt::datasets::resample(from, box, height, width, window, seen, rows);
      REQUIRE(seen.height == window.height);
      REQUIRE(seen.width == window.width);
      for (std::int64_t y = 0; y < window.height; ++y)
        CHECK(std::equal(seen.row(y), seen.row(y) + window.width * 3, whole.row(window.top + y) + window.left * 3));
    }
  }
}

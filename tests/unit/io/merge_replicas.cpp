// SPDX-License-Identifier: Apache-2.0
// The arithmetic by which replicas are merged: means that keep equal values, shares of integers, and boxes that are
// merged piece by piece.
#include "meshtensor/io/checkpoint/merge_replicas.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <numeric>

namespace mt = meshtensor;

TEST_CASE("a running mean") {
  double const odd = 0.1, infinity = std::numeric_limits<double>::infinity();
  double mean = odd, total = 0.3;
  for (double const w : {0.7, 1.1, 0.01}) mean = mt::io::running_mean(mean, odd, w / (total += w));
  CHECK(mean == odd);
  CHECK(std::signbit(mt::io::running_mean(-0.0, -0.0, 0.5)));
  CHECK(mt::io::running_mean(1, 4, 0.25) == 1.75);
  CHECK(mt::io::running_mean(infinity, 3, 0.5) == infinity);
  CHECK(mt::io::running_mean(3, infinity, 0.5) == infinity);
  CHECK(mt::io::running_mean(infinity, infinity, 0.5) == infinity);
  CHECK(std::isnan(mt::io::running_mean(std::nan(""), 3, 0.5)));
}

TEST_CASE("shares add up") {
  for (std::int64_t const sum : {-7, -6, -1, 0, 1, 7, 12})
    for (std::int64_t parts = 1; parts <= 8; ++parts) {
      std::int64_t all = 0, before = std::numeric_limits<std::int64_t>::max();
      for (std::int64_t i = 0; i < parts; ++i) {
        std::int64_t const one = mt::io::share_of(sum, parts, i);
        CHECK(one <= before);
        all += one, before = one;
      }
      CHECK(all == sum);
      CHECK(mt::io::share_of(sum, parts, 0) - before <= 1);
    }
  CHECK(mt::io::share_of(3.0, 4, 1) == 0.75);
}

TEST_CASE("pieces cover a box once, and are not large") {
  mt::view part{};
  part.count = 4;
  std::int64_t const extents[] = {3, 1, 5, 4}, origins[] = {2, 0, 7, 1};
  for (int i = 0; i < 4; ++i) part.extent[i] = extents[i], part.origin[i] = origins[i];
  for (std::int64_t const limit : {1, 2, 3, 4, 7, 8, 20, 25, 59, 60, 1000}) {
    INFO(limit);
    std::vector<int> seen(60);
    mt::io::for_each_piece(part, limit, [&](mt::view const& piece) {
      CHECK(piece.size() <= limit);
      for (std::int64_t a = 0; a < piece.extent[0]; ++a)
        for (std::int64_t c = 0; c < piece.extent[2]; ++c)
          for (std::int64_t d = 0; d < piece.extent[3]; ++d)
            ++seen[static_cast<std::size_t>(((piece.origin[0] + a - 2) * 5 + piece.origin[2] + c - 7) * 4 +
                                            piece.origin[3] + d - 1)];
    });
    CHECK(seen == std::vector<int>(60, 1));
  }
}

TEST_CASE("a box that is merged in pieces is the same as in one") {
  // Two windows of [row=3, replica=5, column=4]: the replicas 0 to 2, and 3 and 4. Three replicas were saved.
  std::vector<float> saved(36), whole(60), pieces(60);
  for (std::size_t i = 0; i < 36; ++i) saved[i] = static_cast<float>(i * 37 % 23) / 7;
  mt::io::merging const how{mt::merge_rule::weighted_mean, 3, 5, {0.5, 2, 0.5}};
  auto const merge = [&](std::vector<float>& to, std::int64_t limit) {
    auto const window = [&](std::int64_t first, std::int64_t count) {
      return mt::view{to.data() + first * 4, mt::f32, 3, {}, {3, count, 4}, {20, 4, 1}, {0, first, 0}, {3, 5, 4}};
    };
    mt::view part = window(0, 3);
    part.extent[1] = 1;
    mt::io::for_each_piece(part, limit, [&](mt::view const& piece) {
      mt::io::merge_piece<float>(piece, 1, how, {window(0, 3), window(3, 2)}, [&](std::int64_t i, mt::view const& box) {
        for (std::int64_t r = 0; r < box.extent[0]; ++r)
          for (std::int64_t c = 0; c < box.extent[2]; ++c)
            box.as<float>()[r * box.stride[0] + c * box.stride[2]] =
                saved[static_cast<std::size_t>((box.origin[0] + r) * 12 + i * 4 + box.origin[2] + c)];
      });
    });
  };
  merge(whole, 1000);
  for (std::int64_t const limit : {1, 3, 4, 5, 9}) {
    merge(pieces, limit);
    CHECK(pieces == whole);
  }
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t j = 0; j < 5; ++j)
      for (std::size_t c = 0; c < 4; ++c) {
        double const mean = (0.5 * saved[r * 12 + c] + 2 * saved[r * 12 + 4 + c] + 0.5 * saved[r * 12 + 8 + c]) / 3;
        CHECK(whole[r * 20 + j * 4 + c] == doctest::Approx(mean).epsilon(1e-6));
      }
}

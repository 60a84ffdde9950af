// SPDX-License-Identifier: Apache-2.0
// Parts of images: random ones within their bounds and everywhere, and the middle.
#include "meshtensor/datasets/image/crops.hpp"

#include <doctest/doctest.h>

#include <set>

#include "support/folder.hpp"

namespace mt = meshtensor;

TEST_CASE("random crops keep their bounds, and come everywhere") {
  std::int64_t const height = 300, width = 400;
  int corner = 0;
  double area = 0, least = 1, most = 0, flat = 9, wide = 0;
  constexpr int count = 4000;
  for (std::uint64_t i = 0; i < count; ++i) {
    auto const b = mt::datasets::random_crop(mt::random_stream({1, 2, 3}, i), height, width);
    REQUIRE(b.top >= 0);
    REQUIRE(b.left >= 0);
    REQUIRE(b.height > 0);
    REQUIRE(b.width > 0);
    REQUIRE(b.top + b.height <= height);
    REQUIRE(b.left + b.width <= width);
    double const share = static_cast<double>(b.height * b.width) / (300 * 400);
    double const aspect = static_cast<double>(b.width) / static_cast<double>(b.height);
    area += share / count, least = std::min(least, share), most = std::max(most, share);
    flat = std::min(flat, aspect), wide = std::max(wide, aspect);
    corner += b.top + b.height == height && b.height < height / 2;
  }
  CHECK(least > 0.078);
  CHECK(least < 0.1);
  CHECK(most > 0.9);
  CHECK(area ==
        doctest::Approx(0.5).epsilon(0.08));  // a little less than the mean of the bounds: the largest do not fit
  CHECK(flat > 0.74);
  CHECK(flat < 0.77);
  CHECK(wide < 1.35);
  CHECK(wide > 1.3);
  CHECK(corner > 0);
}

TEST_CASE("as many random crops are taller than wide as the other way round, for logarithms of aspects are drawn") {
  int tall = 0;
  constexpr int count = 4000;
  for (std::uint64_t i = 0; i < count; ++i) {
    auto const b =
        mt::datasets::random_crop(mt::random_stream({1, 2, 3}, i), 300, 300, {.least_area = 0.1, .most_area = 0.3});
    tall += b.height > b.width;
  }
  CHECK(tall > 0.47 * count);
  CHECK(tall < 0.52 * count);
}

TEST_CASE("where nothing fits it is the middle") {
  mt::random_stream const random({1, 2, 3}, 4);
  CHECK(mt::datasets::random_crop(random, 10, 1000) == mt::datasets::image_box{0, 493, 10, 13});
  CHECK(mt::datasets::random_crop(random, 1000, 9) == mt::datasets::image_box{494, 0, 12, 9});
  CHECK(mt::datasets::random_crop(random, 1, 1) == mt::datasets::image_box{0, 0, 1, 1});
  CHECK(mt::datasets::random_crop(random, 50, 50, {1, 1, 1, 1}) == mt::datasets::image_box{0, 0, 50, 50});
  CHECK(mt::datasets::random_crop(random, 50, 60, {1, 1, 1.2, 1.2}) == mt::datasets::image_box{0, 0, 50, 60});
  CHECK(mt::datasets::random_crop(random, 50, 60, {2, 2, 1.3, 1.4}) == mt::datasets::image_box{2, 0, 46, 60});
}

TEST_CASE("the middle") {
  auto const v = mt::datasets::centre_crop(375, 500, 256, 224, 224);
  CHECK(v.from == mt::datasets::image_box{0, 0, 375, 500});
  CHECK(v.height == 256);
  CHECK(v.width == 341);                                         // of 341.33
  CHECK(v.window == mt::datasets::image_box{16, 58, 224, 224});  // 58.5: to even
  CHECK(mt::datasets::centre_crop(500, 377, 256, 224, 224).window ==
        mt::datasets::image_box{58, 16, 224, 224});  // 339: 57.5
  CHECK(mt::datasets::centre_crop(30, 30, 30, 30, 20).window == mt::datasets::image_box{0, 5, 30, 20});
  CHECK(meshtensor_test::sentence([] { mt::datasets::centre_crop(20, 30, 20, 24, 24); }) ==
        "meshtensor R93: an image of 30 x 20 pixels, resized to 30 x 20, has no middle of 24 x 24: resize to more, or "
        "crop less");
}

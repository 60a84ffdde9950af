// SPDX-License-Identifier: Apache-2.0
// Image files of twenty kinds beside torchvision, as tests/data/images_by_torchvision.py has recorded it: decoded,
// resized to 256, the middle 224 x 224.
//
// needs: images
// optimize: 2
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "meshtensor/datasets/image/crops.hpp"
#include "meshtensor/datasets/image/decode_image.hpp"
#include "meshtensor/datasets/image/resample.hpp"
#include "support/folder.hpp"
#include "support/source_path.hpp"

namespace mt = meshtensor;

TEST_CASE("what a network is judged by") {
  std::filesystem::path const folder = meshtensor_test::source_path(__FILE__).replace_extension("");
  std::string const expected = meshtensor_test::content((folder / "expected").string());
  std::vector<std::filesystem::path> files;
  for (auto const& f : std::filesystem::directory_iterator(folder))
    if (f.path().filename() != "expected") files.push_back(f.path());
  std::sort(files.begin(), files.end());
  REQUIRE(files.size() == 20);
  REQUIRE(expected.size() == 20 * 32 * 32 * 3);

  std::size_t at = 0;
  std::int64_t apart = 0;
  mt::datasets::image whole, seen, rows;
  for (auto const& f : files) {
    CAPTURE(f.filename().string());
    std::string const bytes = meshtensor_test::content(f.string());
    mt::datasets::decode_image({reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size()}, f.string(), whole);
    mt::datasets::image_view const v = mt::datasets::centre_crop(whole.height, whole.width, 256, 224, 224);
    mt::datasets::resample(whole, v.from, v.height, v.width, v.window, seen, rows);
    REQUIRE(seen.height == 224);
    REQUIRE(seen.width == 224);
    int most = 0;
    for (std::int64_t y = 0; y < 224; y += 7)
      for (std::int64_t x = 0; x < 224; x += 7)
        for (std::int64_t c = 0; c < 3; ++c) {
          int const difference = std::abs(seen.row(y)[3 * x + c] - static_cast<std::uint8_t>(expected[at++]));
          most = std::max(most, difference), apart += difference != 0;
        }
    CHECK(most <= 2);
  }
  // With the same libjpeg it is the same bytes; others may round otherwise.
  MESSAGE(apart << " of " << expected.size() << " bytes differ");
  CHECK(apart * 20 < static_cast<std::int64_t>(expected.size()));
}

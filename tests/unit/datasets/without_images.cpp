// SPDX-License-Identifier: Apache-2.0
// A program that was built without the component images tells JPEG and PNG from other files, and says what to link.
#include <doctest/doctest.h>

#include <string>

#include "meshtensor/datasets/image/decode_image.hpp"
#include "support/folder.hpp"

namespace mt = meshtensor;

TEST_CASE("images without the component that decodes them") {
  auto const said = [](std::string const& bytes) {
    mt::datasets::image to;
    return meshtensor_test::sentence([&] {
      mt::datasets::decode_image({reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size()}, "a/b.jpg", to);
    });
  };
  for (auto const& [format, first] : {std::pair("JPEG", "\xff\xd8\xff"), std::pair("PNG", "\x89PNG\r\n\x1a\n")})
    CHECK(said(first) ==
          "meshtensor R61: the image 'a/b.jpg' is " + std::string(format) +
              ", but this program was built without libjpeg and libpng: link meshtensor::images (without "
              "CMake: -DMESHTENSOR_WITH_IMAGES=1 -ljpeg -lpng)");
  CHECK(said("GIF89a").starts_with("meshtensor R60"));
}

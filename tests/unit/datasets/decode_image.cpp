// SPDX-License-Identifier: Apache-2.0
// Image files as RGB: every kind of JPEG and PNG by its bytes, whatever its name; damage is named.
//
// needs: images
#include "meshtensor/datasets/image/decode_image.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "support/folder.hpp"
#include "support/image_files.hpp"

namespace mt = meshtensor;
using meshtensor_test::jpeg_bytes, meshtensor_test::png_bytes, meshtensor_test::some_image;
using bytes = std::vector<std::uint8_t>;

namespace {

mt::datasets::image decoded(std::string const& file, std::int64_t most = mt::datasets::image::most_pixels) {
  mt::datasets::image r;
  mt::datasets::decode_image({reinterpret_cast<std::uint8_t const*>(file.data()), file.size()}, "x.jpg", r, most);
  return r;
}
std::string refusal(std::string const& file, std::int64_t most = mt::datasets::image::most_pixels) {
  return meshtensor_test::sentence([&] { decoded(file, most); });
}
int apart(mt::datasets::image const& a, mt::datasets::image const& b) {
  REQUIRE(a.height == b.height);
  REQUIRE(a.width == b.width);
  int most = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) most = std::max(most, std::abs(a.pixels[i] - b.pixels[i]));
  return most;
}
mt::datasets::image of(std::int64_t height, std::int64_t width, bytes pixels) {
  return {height, width, std::move(pixels)};
}

}  // namespace

TEST_CASE("JPEG in colours, grey, and inks") {
  mt::datasets::image const smooth = some_image(33, 45);
  CHECK(apart(decoded(jpeg_bytes(smooth, {.quality = 100})), smooth) < 12);
  CHECK(apart(decoded(jpeg_bytes(smooth, {.file = JCS_RGB, .quality = 100})), smooth) < 12);
  CHECK(decoded(jpeg_bytes(smooth, {.progressive = true})) == decoded(jpeg_bytes(smooth)));

  bytes const grey(20 * 30, 77);
  CHECK(decoded(jpeg_bytes(grey, 20, 30, {.from = JCS_GRAYSCALE, .file = JCS_GRAYSCALE})) ==
        of(20, 30, bytes(20 * 30 * 3, 77)));

  // Inverted inks: 255 is none of it. Cyan 100 of 255, no magenta, yellow all, and black half.
  bytes inks;
  for (int i = 0; i < 64; ++i) inks.insert(inks.end(), {155, 255, 0, 128});
  for (auto const file : {JCS_CMYK, JCS_YCCK}) {
    mt::datasets::image const mixed = decoded(jpeg_bytes(inks, 8, 8, {.from = JCS_CMYK, .file = file, .quality = 100}));
    bytes wanted;
    for (int i = 0; i < 64; ++i) wanted.insert(wanted.end(), {78, 128, 0});
    CHECK(apart(mixed, of(8, 8, wanted)) <= (file == JCS_CMYK ? 0 : 2));
  }
}

TEST_CASE("PNG in colours, grey, palettes, with alpha, of all depths") {
  mt::datasets::image const smooth = some_image(19, 23);
  CHECK(decoded(png_bytes(smooth)) == smooth);
  CHECK(decoded(png_bytes(smooth, true)) == smooth);
  CHECK(decoded(png_bytes({{1, 2, 3, 0, 4, 5, 6, 128}}, 2, {.colours = PNG_COLOR_TYPE_RGB_ALPHA})) ==
        of(1, 2, {1, 2, 3, 4, 5, 6}));
  CHECK(decoded(png_bytes({{9, 0}, {200, 255}}, 1, {.colours = PNG_COLOR_TYPE_GRAY_ALPHA})) ==
        of(2, 1, {9, 9, 9, 200, 200, 200}));
  CHECK(decoded(png_bytes({{0xa0}}, 3, {.colours = PNG_COLOR_TYPE_GRAY, .bits = 1})) ==
        of(1, 3, {255, 255, 255, 0, 0, 0, 255, 255, 255}));
  CHECK(decoded(png_bytes({{0x1b}}, 4, {.colours = PNG_COLOR_TYPE_GRAY, .bits = 2})) ==
        of(1, 4, {0, 0, 0, 85, 85, 85, 170, 170, 170, 255, 255, 255}));
  CHECK(decoded(png_bytes({{0x12, 0xff, 0xfe, 0x01}}, 2, {.colours = PNG_COLOR_TYPE_GRAY, .bits = 16})) ==
        of(1, 2, {0x12, 0x12, 0x12, 0xfe, 0xfe, 0xfe}));
  CHECK(decoded(png_bytes({{1, 255, 2, 255, 3, 255}}, 1, {.bits = 16})) == of(1, 1, {1, 2, 3}));
  auto const palette = [](png_structp file, png_infop about) {
    png_color const colours[] = {{10, 20, 30}, {40, 50, 60}, {70, 80, 90}, {1, 2, 3}};
    png_byte const clear[] = {0, 255};
    png_set_PLTE(file, about, colours, 4);
    png_set_tRNS(file, about, clear, 2, nullptr);
  };
  CHECK(decoded(png_bytes({{2, 0, 1}}, 3, {.colours = PNG_COLOR_TYPE_PALETTE}, palette)) ==
        of(1, 3, {70, 80, 90, 10, 20, 30, 40, 50, 60}));
  CHECK(decoded(png_bytes({{0xc4}}, 3, {.colours = PNG_COLOR_TYPE_PALETTE, .bits = 2}, palette)) ==
        of(1, 3, {1, 2, 3, 10, 20, 30, 40, 50, 60}));
  auto const clear_grey = [](png_structp file, png_infop about) {
    png_color_16 const grey{.index = 0, .red = 0, .green = 0, .blue = 0, .gray = 5};
    png_set_tRNS(file, about, nullptr, 0, &grey);
  };
  CHECK(decoded(png_bytes({{5, 6}}, 2, {.colours = PNG_COLOR_TYPE_GRAY}, clear_grey)) == of(1, 2, {5, 5, 5, 6, 6, 6}));
}

TEST_CASE("memory of another image is reused") {
  mt::datasets::image r = some_image(100, 100);
  auto const* before = r.pixels.data();
  std::string const file = png_bytes(some_image(5, 7));
  mt::datasets::decode_image({reinterpret_cast<std::uint8_t const*>(file.data()), file.size()}, "x", r);
  CHECK(r == some_image(5, 7));
  CHECK(r.pixels.data() == before);
}

TEST_CASE("damaged files, and those of other formats, are named") {
  for (std::string const& file : {jpeg_bytes(some_image(64, 64)), jpeg_bytes(some_image(64, 64), {.progressive = true}),
                                  png_bytes(some_image(64, 64)), png_bytes(some_image(64, 64), true)}) {
    for (std::size_t size = 0; size < file.size(); size += 1 + file.size() / 97) {
      CAPTURE(size);
      std::string const why = refusal(file.substr(0, size));
      CHECK(why.starts_with("meshtensor R60: the image 'x.jpg' is "));
    }
    CHECK(refusal(file).empty());
    CHECK(refusal(file.substr(0, file.size() / 2)).ends_with(": copy it again, or leave it out"));
    CHECK(refusal(file, 4095) ==
          "meshtensor R60: the image 'x.jpg' has 64 x 64 pixels, more than 4095: scale it down, or leave it out");
    CHECK(refusal(file, 4096).empty());
  }
  std::string wrong = png_bytes(some_image(64, 64));
  wrong[wrong.size() / 2] ^= 1;
  CHECK(refusal(wrong).find("CRC error") != std::string::npos);
  CHECK(refusal("") == "meshtensor R60: the image 'x.jpg' is damaged: it is empty: copy it again, or leave it out");
  auto const other = [](std::string const& format) {
    return "meshtensor R60: the image 'x.jpg' is " + format + ", not JPEG or PNG: convert it, or leave it out";
  };
  CHECK(refusal("GIF89a") == other("GIF"));
  CHECK(refusal(std::string("RIFF\1\2\3\0WEBPVP8", 15)) == other("WebP"));
  CHECK(refusal("RIFF") == other("of an unknown format"));
  CHECK(refusal("<html>404") == other("HTML"));
  CHECK(refusal("\xff") == other("of an unknown format"));
}

TEST_CASE("a JPEG with a thousand scans is refused") {
  std::string file = jpeg_bytes(some_image(16, 16), {.progressive = true});
  std::size_t const last = file.rfind("\xff\xda");
  std::string const scan = file.substr(last, file.size() - 2 - last);
  for (int i = 0; i < 1000; ++i) file.insert(last, scan);
  CHECK(refusal(file).find("it has more than 500 scans") != std::string::npos);
}

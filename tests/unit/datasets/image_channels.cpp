// SPDX-License-Identifier: Apache-2.0
// Grey images: found in files and sets, asked for, and made of colours as Pillow makes them.
//
// needs: images
#include "meshtensor/datasets/image/image_channels.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "meshtensor/datasets/image/idx.hpp"
#include "meshtensor/datasets/image/image_batches.hpp"
#include "meshtensor/datasets/image/image_folder.hpp"
#include "meshtensor/datasets/image/image_range.hpp"
#include "meshtensor/datasets/image/synthetic_images.hpp"
#include "support/folder.hpp"
#include "support/image_files.hpp"
#include "support/temporary_folder.hpp"

namespace mt = meshtensor;
using folder = meshtensor_test::temporary_folder;
using meshtensor_test::jpeg_bytes, meshtensor_test::png_bytes, meshtensor_test::some_image;

namespace {

std::optional<int> channels(std::string const& bytes, std::size_t most = std::string::npos) {
  std::string const part = bytes.substr(0, most);
  return mt::datasets::channels_in_file({reinterpret_cast<std::uint8_t const*>(part.data()), part.size()});
}
std::string grey_png(int width, int height, int first = 0) {
  std::vector<std::vector<std::uint8_t>> rows(static_cast<std::size_t>(height));
  for (auto& row : rows)
    for (int x = 0; x < width; ++x) row.push_back(static_cast<std::uint8_t>(first++ * 7));
  return png_bytes(rows, width, {.colours = PNG_COLOR_TYPE_GRAY});
}
std::string grey_jpeg() {
  return jpeg_bytes(std::vector<std::uint8_t>(24, 100), 4, 6, {.from = JCS_GRAYSCALE, .file = JCS_GRAYSCALE});
}
mt::datasets::image_options in_order(int channels = 0) {
  return {.rows = 2,
          .height = 4,
          .width = 6,
          .shorter = 4,
          .channels = channels,
          .mean = {0, 0, 0},
          .deviation = {1, 1, 1}};
}
std::vector<float> first_batch(mt::datasets::image_set const& set, mt::datasets::image_options const& o) {
  mt::datasets::image_batch b;
  mt::datasets::image_batches(set, o).read(0, b);
  return b.pixels;
}
template <class F>
std::string refusal(F const& f) {
  return meshtensor_test::sentence(f);
}

}  // namespace

TEST_CASE("the channels in the first bytes of a file") {
  CHECK(channels(grey_png(6, 4)) == 1);
  CHECK(channels(png_bytes(some_image(4, 6))) == 3);
  CHECK(channels(png_bytes({{1, 2, 3, 4}}, 2, {.colours = PNG_COLOR_TYPE_GRAY_ALPHA})) == 1);
  CHECK(channels(png_bytes({{1, 2, 3, 4}}, 1, {.colours = PNG_COLOR_TYPE_RGB_ALPHA})) == 3);
  CHECK(channels(png_bytes({{0, 1}}, 2, {.colours = PNG_COLOR_TYPE_PALETTE}, [](png_structp p, png_infop about) {
          png_color const two[] = {{1, 2, 3}, {4, 5, 6}};
          png_set_PLTE(p, about, two, 2);
        })) == 3);
  CHECK(channels(grey_jpeg()) == 1);
  for (bool const progressive : {false, true})
    CHECK(channels(jpeg_bytes(some_image(16, 16), {.progressive = progressive})) == 3);
  for (std::string const& file : {grey_jpeg(), grey_png(6, 4), jpeg_bytes(some_image(8, 8)), std::string("GIF89a")}) {
    std::optional<int> last;
    for (std::size_t most = 0; most <= file.size(); ++most) {  // more bytes never take back what is known
      std::optional<int> const now = channels(file, most);
      CHECK((!last || now == last));
      last = now;
    }
    CHECK(last.has_value() == (file[0] != 'G'));
  }
}

TEST_CASE("colours become grey by the usual weights, as in Pillow") {
  mt::datasets::image i;
  i.resize(1, 6);
  i.pixels = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 10, 200, 77, 7, 7, 7};
  mt::datasets::make_grey(i);
  std::vector<std::uint8_t> expected;
  for (int const grey : {76, 150, 29, 255, 129, 7})  // Image.convert("L") of Pillow 13.0
    expected.insert(expected.end(), 3, static_cast<std::uint8_t>(grey));
  CHECK(i.pixels == expected);
  for (int v = 0; v < 256; ++v) {
    i.pixels.assign(18, static_cast<std::uint8_t>(v));
    auto const before = i.pixels;
    mt::datasets::make_grey(i);
    CHECK(i.pixels == before);
  }
}

TEST_CASE("batches have the channels of the set, or those that are asked for") {
  folder const f;
  std::filesystem::create_directories(f / "grey/a"), std::filesystem::create_directories(f / "colour/a");
  f.write("grey/a/1.png", grey_png(6, 4)), f.write("grey/a/2.png", grey_png(6, 4, 24));
  f.write("colour/a/1.png", png_bytes(some_image(4, 6))), f.write("colour/a/2.png", png_bytes(some_image(4, 6, 1)));
  mt::datasets::image_folder const grey(f / "grey"), colour(f / "colour");
  CHECK(grey.channels() == 1);
  CHECK(colour.channels() == 3);
  CHECK(mt::datasets::image_batches(grey, in_order()).options().channels == 1);

  std::vector<float> const found = first_batch(grey, in_order());
  REQUIRE(found.size() == 2 * 4 * 6);
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == static_cast<float>(i * 7 % 256) / 255.0f);
  std::vector<float> const as_colours = first_batch(grey, in_order(3));
  REQUIRE(as_colours.size() == found.size() * 3);
  for (std::size_t i = 0; i < as_colours.size(); ++i) CHECK(as_colours[i] == found[i / 3]);

  std::vector<float> const colours = first_batch(colour, in_order()), as_grey = first_batch(colour, in_order(1));
  CHECK(colours == first_batch(colour, in_order(3)));
  REQUIRE(as_grey.size() * 3 == colours.size());
  for (std::size_t i = 0; i < as_grey.size(); ++i) {
    float const weighed = 0.299f * colours[3 * i] + 0.587f * colours[3 * i + 1] + 0.114f * colours[3 * i + 2];
    CHECK(as_grey[i] == doctest::Approx(weighed).epsilon(0).scale(1).epsilon(0.6 / 255));
  }
  // Crops, mirrors and parts move one channel as they move three.
  mt::datasets::image_options o = in_order(1), three = in_order(3);
  for (auto* each : {&o, &three}) each->seed = 5, each->height = 5, each->width = 3, each->shorter = 6;
  for (mt::datasets::image_crop const crop :
       {mt::datasets::image_crop::random, mt::datasets::image_crop::moved, mt::datasets::image_crop::middle}) {
    o.crop = three.crop = crop;
    std::vector<float> const one = first_batch(grey, o), all = first_batch(grey, three);
    REQUIRE(one.size() * 3 == all.size());
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == one[i / 3]);
  }
}

TEST_CASE("grey has the means of the three means and deviations") {
  mt::datasets::idx_images const set({{1, 1, 1}, {51}}, {{1}, {0}}, "images", "labels");
  CHECK(set.channels() == 1);
  CHECK(mt::datasets::image_range(set, 0).channels() == 1);
  std::vector<float> const pixels = first_batch(
      set,
      {.rows = 1, .height = 1, .width = 1, .shorter = 1, .mean = {0.1f, 0.2f, 0.3f}, .deviation = {0.3f, 0.5f, 0.7f}});
  REQUIRE(pixels.size() == 1);
  CHECK(pixels[0] == doctest::Approx((0.2 - 0.2) / 0.5).epsilon(1e-6));
  CHECK(mt::datasets::synthetic_images({.count = 4, .classes = 2}).channels() == 3);
}

TEST_CASE("a folder of both kinds wants to be asked") {
  folder const f;
  for (char const* const name : {"pets/cat", "pets/dog"}) std::filesystem::create_directories(f / name);
  f.write("pets/cat/1.png", grey_png(6, 4)), f.write("pets/cat/2.jpg", grey_jpeg());
  f.write("pets/dog/1.png", png_bytes(some_image(4, 6)));
  mt::datasets::image_folder const set(f / "pets");
  CHECK(refusal([&] { mt::datasets::image_batches const none(set, in_order()); }) ==
        "meshtensor R66: of the images of '" + (f / "pets").string() +
            "', 2 are grey, such as 'cat/2.jpg', and 1 have colours, such as 'dog/1.png': ask for "
            "image_options{.channels = 3}, or 1 for grey");
  CHECK(first_batch(set, in_order(1)).size() == 2 * 4 * 6);
  CHECK(first_batch(set, in_order(3)).size() == 2 * 4 * 6 * 3);
  CHECK(refusal([&] { mt::datasets::image_batches const none(set, in_order(2)); }) ==
        "meshtensor R90: images have no 2 channels: ask for 3, for 1, which is grey, or for 0, as all images of the "
        "set are");

  std::string const archive = (f / "pets.tar").string();
  REQUIRE(std::system(("tar -cf '" + archive + "' -C '" + (f / "pets").string() + "' cat").c_str()) == 0);
  CHECK(mt::datasets::image_folder(archive).channels() == 1);
}

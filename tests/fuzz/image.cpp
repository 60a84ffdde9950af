// SPDX-License-Identifier: Apache-2.0
// Any bytes as an image file, as they are and with PNG's checksums made right: an image of the extents that it says,
// the same whatever was in its memory before, of which every part can be shown; or a sentence.
//
// needs: images
#include <algorithm>
#include <vector>

#include "fuzz.hpp"
#include "meshtensor/datasets/image/crops.hpp"
#include "meshtensor/datasets/image/decode_image.hpp"
#include "meshtensor/datasets/image/resample.hpp"

namespace mt = meshtensor;

namespace {

constexpr std::int64_t most = 1 << 14;

/// Whether it was decoded, into memory that holds one byte everywhere.
bool decoded(std::span<std::uint8_t const> bytes, std::uint8_t before, mt::datasets::image& to) {
  to.pixels.assign(most * 3, before);
  try {
    mt::datasets::decode_image(bytes, "image", to, most);
    return true;
  } catch (mt::error const& e) {
    fuzz::require(e.code() == "R60" && e.sentence().find("'image'") != std::string::npos);
    return false;
  }
}

void check(std::span<std::uint8_t const> bytes) {
  static mt::datasets::image one, other, seen, rows;
  bool const good = decoded(bytes, 0, one);
  fuzz::require(decoded(bytes, 255, other) == good);
  if (!good) return;
  fuzz::require(one == other && one.height > 0 && one.width > 0 && one.height * one.width <= most);
  fuzz::require(std::ssize(one.pixels) == one.height * one.width * 3);

  auto const box = mt::datasets::random_crop(mt::random_stream({1, 2, 3}, bytes.size()), one.height, one.width);
  mt::datasets::resample(one, box, 7, 5, {0, 0, 7, 5}, seen, rows);
  auto const v = mt::datasets::centre_crop(one.height, one.width, 9, 8, 8);
  mt::datasets::resample(one, v.from, v.height, v.width, v.window, seen, rows);
  auto const [least, greatest] = std::minmax_element(one.pixels.begin(), one.pixels.end());
  for (std::uint8_t p : seen.pixels) fuzz::require(p >= *least && p <= *greatest);
}

std::uint32_t number(std::uint8_t const* p) {
  return std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 | std::uint32_t{p[2]} << 8 | p[3];
}
/// Puts the checksum behind every chunk: length, name, content, checksum.
void make_checksums_right(std::vector<std::uint8_t>& png) {
  for (std::size_t at = 8; at + 12 <= png.size();) {
    std::size_t const length = number(&png[at]);
    if (length > png.size() - at - 12) return;
    std::uint32_t sum = 0xffffffffu;
    for (std::size_t i = at + 4; i < at + 8 + length; ++i) {
      sum ^= png[i];
      for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ ((sum & 1) != 0 ? 0xedb88320u : 0);
    }
    for (std::size_t i = 0; i < 4; ++i) png[at + 8 + length + i] = static_cast<std::uint8_t>(~sum >> (24 - 8 * i));
    at += length + 12;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  check({data, size});
  if (mt::datasets::detail::image_format({data, size}) != "PNG") return 0;
  std::vector<std::uint8_t> png(data, data + size);
  make_checksums_right(png);
  check(png);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// The channels of images: reads their number from the first bytes of a JPEG or PNG file, and turns colours into grey.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "meshtensor/datasets/image/image.hpp"

namespace meshtensor::datasets {

/// The channels of a JPEG or PNG file that begins with these bytes: 1 for grey and 3 for colours. Palettes and inks
/// count as colours, because they are decoded to colours. There is no value if more bytes are needed, or if the bytes
/// are of no such file.
inline std::optional<int> channels_in_file(std::span<std::uint8_t const> bytes) {
  auto const has = [&](std::size_t count) { return bytes.size() >= count; };
  if (has(26) && bytes[0] == 0x89 && bytes[1] == 'P')
    return (bytes[25] & 2) == 0 ? 1 : 3;  // bit 1 of PNG's colour type: colours are used
  if (!has(2) || bytes[0] != 0xff || bytes[1] != 0xd8) return {};
  for (std::size_t at = 2; has(at + 10);) {  // JPEG: a list of segments, one of which begins the frame
    if (bytes[at] != 0xff) return {};
    std::uint8_t const kind = bytes[at + 1];
    if (kind == 0xff) {  // fills space
      ++at;
      continue;
    }
    bool const is_frame = kind >= 0xc0 && kind <= 0xcf && kind != 0xc4 && kind != 0xc8 && kind != 0xcc;
    if (is_frame) return bytes[at + 9] == 1 ? 1 : 3;
    at += 2 + (std::size_t{bytes[at + 2]} << 8 | bytes[at + 3]);
  }
  return {};
}

/// Makes the three bytes of each pixel equal: 0.299 of red plus 0.587 of green plus 0.114 of blue, rounded as in
/// Pillow. A grey pixel keeps its value.
///
/// source  ITU-R BT.601
inline void make_grey(image& of) {
  for (std::size_t i = 0; i + 2 < of.pixels.size(); i += 3) {
    unsigned const red = of.pixels[i], green = of.pixels[i + 1], blue = of.pixels[i + 2];
    auto const grey = static_cast<std::uint8_t>((red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16);
    of.pixels[i] = of.pixels[i + 1] = of.pixels[i + 2] = grey;
  }
}

}  // namespace meshtensor::datasets

// SPDX-License-Identifier: Apache-2.0
// Places the parts of a dim along a line of pixels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "meshtensor/emit/picture_of_parts.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// The position of a part along a drawn dim.
struct strip {
  parts_writer::part const* of;  // null if it stands for the parts that are left out
  int begin, size;
};
/// A dim with more parts is not drawn whole.
inline constexpr std::size_t most_strips = 16;

/// The pixel at which an element begins.
inline int pixel_of(std::int64_t element, std::int64_t extent, int size) {
  return static_cast<int>(static_cast<double>(element) / static_cast<double>(std::max<std::int64_t>(extent, 1)) * size);
}
/// The size of a dim in pixels. It grows with the logarithm of the extent, and has room for each part.
inline int pixels_of_dim(std::int64_t extent, std::size_t parts, int least, int most) {
  int size = least;
  for (std::int64_t e = 1; e < extent && size < most; e *= 2) size += least;
  auto const room = static_cast<int>(std::min(parts, most_strips)) * least;
  return std::min(std::max(size, std::min(room, most)), most);
}
/// The positions of the parts of a dim. If there are too many parts, only the first and the last ones are drawn.
inline std::vector<strip> strips_of_parts(std::vector<parts_writer::part> const& parts, std::int64_t extent, int size) {
  std::vector<strip> all;
  bool const is_whole = parts.size() <= most_strips;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].held.count == 0) continue;
    if (is_whole) {
      int const begin = pixel_of(parts[i].held.begin, extent, size);
      all.push_back({&parts[i], begin, pixel_of(parts[i].held.begin + parts[i].held.count, extent, size) - begin});
      continue;
    }
    constexpr std::size_t first = most_strips / 2;
    if (i >= first && i + 2 < parts.size()) continue;
    auto const slot = static_cast<int>(i < first ? i : most_strips - (parts.size() - i));
    all.push_back({&parts[i], slot * size / static_cast<int>(most_strips), size / static_cast<int>(most_strips)});
  }
  if (!is_whole) {
    constexpr int slots = static_cast<int>(most_strips), first = slots / 2;
    all.push_back({nullptr, first * size / slots, (slots - 2 - first) * size / slots});
  }
  return all;
}

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"

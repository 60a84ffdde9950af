// SPDX-License-Identifier: Apache-2.0
// An image in memory: rows of red, green and blue bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"

namespace meshtensor::datasets {

/// An RGB image, row-major: `pixels` [height, width, 3]. A grey pixel has three equal bytes.
struct image {
  /// An image with more pixels is refused, because it would take more than 600 MB of memory.
  static constexpr std::int64_t most_pixels = 200'000'000;

  std::int64_t height = 0, width = 0;
  std::vector<std::uint8_t> pixels;

  /// Sets the extents. The memory is reused, and the pixels have undefined values.
  void resize(std::int64_t h, std::int64_t w) {
    height = h, width = w;
    pixels.resize(static_cast<std::size_t>(h * w * 3));
  }
  std::uint8_t* row(std::int64_t y) { return pixels.data() + y * width * 3; }
  std::uint8_t const* row(std::int64_t y) const { return pixels.data() + y * width * 3; }

  bool operator==(image const&) const = default;
};

/// A rectangle of pixels.
struct image_box {
  std::int64_t top = 0, left = 0, height = 0, width = 0;
  bool operator==(image_box const&) const = default;
};

/// Throws the error R60, for example `the image 'cats/7.jpg' is damaged: Premature end of JPEG file: copy it again, or
/// leave it out`. A set of images calls it in `read`. With `skip_damaged`, batches then leave out the image.
[[noreturn]] inline void image_is_damaged(std::string const& name, std::string const& problem) {
  throw error("R60", {"the image '", name, "' is damaged: ", problem, ": copy it again, or leave it out"});
}

namespace detail {
/// Refuses an image that claims to be too large before memory is allocated for it.
inline void check_image_extents(std::string const& name, std::int64_t height, std::int64_t width, std::int64_t most) {
  if (height < 1 || width < 1) image_is_damaged(name, "it has no pixels");
  if (height > most / width)
    throw error("R60", {"the image '", name, "' has ", width, " x ", height, " pixels, more than ", most,
                        ": scale it down, or leave it out"});
}
}  // namespace detail

}  // namespace meshtensor::datasets

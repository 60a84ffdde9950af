// SPDX-License-Identifier: Apache-2.0
// Decodes an image file. The format follows from the first bytes, not from the name.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "meshtensor/datasets/image/image.hpp"

#if MESHTENSOR_WITH_IMAGES
#  include "meshtensor/datasets/image/jpeg.hpp"
#  include "meshtensor/datasets/image/png.hpp"
#endif

namespace meshtensor::datasets {

namespace detail {
/// The format's name, for example `GIF` or `WebP`, or an empty string if it is unknown.
inline std::string_view image_format(std::span<std::uint8_t const> bytes) {
  std::string_view const text(reinterpret_cast<char const*>(bytes.data()), std::min<std::size_t>(bytes.size(), 16));
  struct format {
    std::string_view name, first;
  };
  for (auto const& [name, first] :
       {format{"JPEG", "\xff\xd8"}, format{"PNG", "\x89PNG\r\n\x1a\n"}, format{"GIF", "GIF8"}, format{"BMP", "BM"},
        format{"TIFF", "II*"}, format{"TIFF", "MM"}, format{"HTML", "<"}})
    if (text.starts_with(first)) return name;
  return text.starts_with("RIFF") && text.substr(std::min<std::size_t>(8, text.size())).starts_with("WEBP") ? "WebP"
                                                                                                            : "";
}
}  // namespace detail

/// Decodes JPEG and PNG to RGB. `name` is the image's name in error sentences.
///
/// errors  R60 it is of another format, is damaged, or has more than `most_pixels`; R61 this program was built without
/// the component images
inline void decode_image(std::span<std::uint8_t const> bytes, std::string const& name, image& to,
                         [[maybe_unused]] std::int64_t most_pixels = image::most_pixels) {
  std::string_view const format = detail::image_format(bytes);
  if (bytes.empty()) image_is_damaged(name, "it is empty");
  if (format != "JPEG" && format != "PNG")
    throw error("R60", {"the image '", name, "' is ", format.empty() ? "of an unknown format" : format,
                        ", not JPEG or PNG: convert it, or leave it out"});
#if MESHTENSOR_WITH_IMAGES
  if (format == "JPEG") decode_jpeg(bytes, name, to, most_pixels);
  else decode_png(bytes, name, to, most_pixels);
#else
  to.resize(0, 0);
  throw error("R61", {"the image '", name, "' is ", format, ", but this program was built without libjpeg and libpng: ",
                      "link meshtensor::images (without CMake: -DMESHTENSOR_WITH_IMAGES=1 -ljpeg -lpng)"});
#endif
}

}  // namespace meshtensor::datasets

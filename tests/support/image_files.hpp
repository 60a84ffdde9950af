// SPDX-License-Identifier: Apache-2.0
// Image files for tests, written by libjpeg and libpng themselves. Needs the component images.
#pragma once

#include <cstddef>
#include <cstdio>

// Needs what stands above.
#include <jpeglib.h>
#include <png.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "meshtensor/datasets/image/image.hpp"

namespace meshtensor_test {

/// Smooth colours that tell every place and every image apart.
inline meshtensor::datasets::image some_image(std::int64_t height, std::int64_t width, int number = 0) {
  meshtensor::datasets::image r;
  r.resize(height, width);
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      r.row(y)[3 * x] = static_cast<std::uint8_t>(255 * y / height);
      r.row(y)[3 * x + 1] = static_cast<std::uint8_t>(255 * x / width);
      r.row(y)[3 * x + 2] = static_cast<std::uint8_t>((number * 37 + x + y) % 256);
    }
  return r;
}

struct jpeg_kind {
  J_COLOR_SPACE from = JCS_RGB, file = JCS_YCbCr;  // of `samples`, and within the file
  int quality = 90;
  bool progressive = false;
};
/// `samples` [height, width, as many as the colour space has].
inline std::string jpeg_bytes(std::vector<std::uint8_t> samples, std::int64_t height, std::int64_t width,
                              jpeg_kind const& kind = {}) {
  jpeg_compress_struct file{};
  jpeg_error_mgr problems{};
  file.err = jpeg_std_error(&problems);
  jpeg_create_compress(&file);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&file, &bytes, &size);
  file.image_height = static_cast<JDIMENSION>(height), file.image_width = static_cast<JDIMENSION>(width);
  file.in_color_space = kind.from;
  file.input_components = kind.from == JCS_GRAYSCALE ? 1 : kind.from == JCS_CMYK ? 4 : 3;
  jpeg_set_defaults(&file);
  jpeg_set_colorspace(&file, kind.file);
  jpeg_set_quality(&file, kind.quality, TRUE);
  if (kind.progressive) jpeg_simple_progression(&file);
  jpeg_start_compress(&file, TRUE);
  while (file.next_scanline < file.image_height) {
    JSAMPROW row = samples.data() + file.next_scanline * static_cast<std::size_t>(width * file.input_components);
    jpeg_write_scanlines(&file, &row, 1);
  }
  jpeg_finish_compress(&file);
  jpeg_destroy_compress(&file);
  std::string r(reinterpret_cast<char const*>(bytes), size);
  std::free(bytes);
  return r;
}
inline std::string jpeg_bytes(meshtensor::datasets::image const& i, jpeg_kind const& kind = {}) {
  return jpeg_bytes(i.pixels, i.height, i.width, kind);
}

struct png_kind {
  int colours = PNG_COLOR_TYPE_RGB, bits = 8;
  bool interlaced = false;
};
/// `rows`: each as PNG has it; `more` adds chunks before the pixels.
inline std::string png_bytes(std::vector<std::vector<std::uint8_t>> rows, std::int64_t width, png_kind const& kind = {},
                             std::function<void(png_structp, png_infop)> const& more = {}) {
  png_structp file = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop about = png_create_info_struct(file);
  std::string r;
  png_set_write_fn(
      file, &r,
      [](png_structp p, png_bytep bytes, png_size_t size) {
        static_cast<std::string*>(png_get_io_ptr(p))->append(reinterpret_cast<char const*>(bytes), size);
      },
      nullptr);
  png_set_IHDR(file, about, static_cast<png_uint_32>(width), static_cast<png_uint_32>(rows.size()), kind.bits,
               kind.colours, kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (more) more(file, about);
  png_write_info(file, about);
  std::vector<png_bytep> each;
  for (auto& row : rows) each.push_back(row.data());
  png_write_image(file, each.data());
  png_write_end(file, nullptr);
  png_destroy_write_struct(&file, &about);
  return r;
}
inline std::string png_bytes(meshtensor::datasets::image const& i, bool interlaced = false) {
  std::vector<std::vector<std::uint8_t>> rows;
  for (std::int64_t y = 0; y < i.height; ++y) rows.emplace_back(i.row(y), i.row(y) + i.width * 3);
  return png_bytes(rows, i.width, {.interlaced = interlaced});
}

}  // namespace meshtensor_test

// SPDX-License-Identifier: Apache-2.0
// Decodes PNG files with libpng. It needs the component images.
#pragma once

#include <png.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <span>
#include <string>

#include "meshtensor/datasets/image/image.hpp"

namespace meshtensor::datasets {

namespace detail {

/// One file that libpng reads. If libpng finds a fault, an exception passes through its functions. They hold nothing
/// but memory of `file_`, which the destructor frees.
class png_file {
 public:
  png_file(std::span<std::uint8_t const> bytes, std::string const& name) : left_(bytes), name_(name) {
    auto const fail = [](png_structp p, png_const_charp text) {
      image_is_damaged(static_cast<png_file*>(png_get_error_ptr(p))->name_, text);
    };
    file_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, [](png_structp, png_const_charp) {});
    if (file_ != nullptr) about_ = png_create_info_struct(file_);
    if (about_ == nullptr) {
      png_destroy_read_struct(&file_, &about_, nullptr);
      throw std::bad_alloc();
    }
    png_set_read_fn(file_, this, [](png_structp p, png_bytep into, png_size_t count) {
      static_cast<png_file*>(png_get_io_ptr(p))->read(into, count);
    });
  }
  png_file(png_file const&) = delete;
  ~png_file() { png_destroy_read_struct(&file_, &about_, nullptr); }

  void decode(image& to, std::int64_t most_pixels) {
    png_read_info(file_, about_);
    std::int64_t const height = png_get_image_height(file_, about_), width = png_get_image_width(file_, about_);
    check_image_extents(name_, height, width, most_pixels);
    auto const kind = png_get_color_type(file_, about_);
    png_set_strip_16(file_);
    if (kind == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(file_);
    if ((kind & PNG_COLOR_MASK_COLOR) == 0) {
      png_set_expand_gray_1_2_4_to_8(file_);
      png_set_gray_to_rgb(file_);
    }
    png_set_strip_alpha(file_);
    int const passes = png_set_interlace_handling(file_);
    png_read_update_info(file_, about_);
    if (png_get_rowbytes(file_, about_) != static_cast<std::size_t>(width * 3))
      image_is_damaged(name_, "its pixels do not become RGB");
    to.resize(height, width);
    for (int pass = 0; pass < passes; ++pass)
      for (std::int64_t y = 0; y < height; ++y) png_read_row(file_, to.row(y), nullptr);
    png_read_end(file_, nullptr);
  }

 private:
  void read(std::uint8_t* into, std::size_t count) {
    if (count > left_.size()) image_is_damaged(name_, "it ends early");
    std::copy_n(left_.begin(), count, into);
    left_ = left_.subspan(count);
  }

  std::span<std::uint8_t const> left_;
  std::string const& name_;
  png_structp file_ = nullptr;
  png_infop about_ = nullptr;
};

}  // namespace detail

/// Decodes a PNG file to RGB. Grey and palettes become RGB, the upper 8 of 16 bits stay, and transparency is dropped.
///
/// errors  R60 it is damaged, ends early, or has more than `most_pixels`
inline void decode_png(std::span<std::uint8_t const> bytes, std::string const& name, image& to,
                       std::int64_t most_pixels = image::most_pixels) {
  detail::png_file(bytes, name).decode(to, most_pixels);
}

}  // namespace meshtensor::datasets

// SPDX-License-Identifier: Apache-2.0
// Decodes JPEG files with libjpeg. It needs the component images.
#pragma once

#include <cstddef>
#include <cstdio>

// jpeglib.h needs the headers above it.
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "meshtensor/datasets/image/image.hpp"

namespace meshtensor::datasets {

namespace detail {

/// One file that libjpeg reads. If libjpeg finds a fault, an exception passes through its functions. They hold nothing
/// but memory of `about_`, which the destructor frees.
class jpeg_file {
 public:
  jpeg_file(std::span<std::uint8_t const> bytes, std::string const& name) : name_(name) {
    about_.err = jpeg_std_error(&problems_);
    problems_.error_exit = [](j_common_ptr c) { of(c).fail(); };
    problems_.emit_message = [](j_common_ptr c, int level) { of(c).note(level); };
    progress_.progress_monitor = [](j_common_ptr c) { of(c).check_progress(); };
    about_.client_data = this;
    jpeg_create_decompress(&about_);
    about_.progress = &progress_;
    jpeg_mem_src(&about_, bytes.data(), static_cast<unsigned long>(bytes.size()));  // libjpeg's type
  }
  jpeg_file(jpeg_file const&) = delete;
  ~jpeg_file() { jpeg_destroy_decompress(&about_); }

  void decode(image& to, std::int64_t most_pixels) {
    jpeg_read_header(&about_, TRUE);
    check_image_extents(name_, about_.image_height, about_.image_width, most_pixels);
    bool const inks = about_.num_components == 4;
    about_.out_color_space = inks ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&about_);
    to.resize(about_.output_height, about_.output_width);
    if (inks) read_inks(to);
    else read_colours(to);
    if (ended_early_) fail();
  }

 private:
  static jpeg_file& of(j_common_ptr c) { return *static_cast<jpeg_file*>(c->client_data); }
  [[noreturn]] void fail() {
    std::array<char, JMSG_LENGTH_MAX> text{};
    problems_.format_message(reinterpret_cast<j_common_ptr>(&about_), text.data());
    image_is_damaged(name_, text.data());
  }
  /// Of the warnings, only the end of the file counts, because other decoders show images with odd bytes between their
  /// parts.
  void note(int level) {
    if (level < 0 && problems_.msg_code == JWRN_JPEG_EOF) ended_early_ = true;
    if (ended_early_) fail();
  }
  /// Limits the scans. A small file may claim any number of them, and each scan passes over the whole image.
  void check_progress() {
    if (about_.input_scan_number > 500) image_is_damaged(name_, "it has more than 500 scans");
  }

  void read_colours(image& to) {
    while (about_.output_scanline < about_.output_height) {
      std::array<JSAMPROW, 8> rows{};
      for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i] = to.row(std::min<std::int64_t>(about_.output_scanline + static_cast<std::int64_t>(i), to.height - 1));
      auto const left = about_.output_height - about_.output_scanline;
      jpeg_read_scanlines(&about_, rows.data(), std::min(left, static_cast<JDIMENSION>(rows.size())));
    }
  }
  /// Reads a file of four inks. The inks are inverted, because Adobe's programs write them so.
  void read_inks(image& to) {
    std::vector<std::uint8_t> inks(static_cast<std::size_t>(to.width * 4));
    while (about_.output_scanline < about_.output_height) {
      std::uint8_t* colour = to.row(about_.output_scanline);
      JSAMPROW row = inks.data();
      jpeg_read_scanlines(&about_, &row, 1);
      for (std::size_t i = 0; i < inks.size(); i += 4)
        for (std::size_t c = 0; c < 3; ++c) *colour++ = mixed(255 - inks[i + c], inks[i + 3]);
    }
  }
  /// The light that an ink leaves of the light that black leaves, rounded.
  static std::uint8_t mixed(int ink, int light) {
    int const product = ink * light + 128;
    return static_cast<std::uint8_t>(std::max(0, light - (((product >> 8) + product) >> 8)));
  }

  std::string const& name_;
  jpeg_decompress_struct about_{};
  jpeg_error_mgr problems_{};
  jpeg_progress_mgr progress_{};
  bool ended_early_ = false;
};

}  // namespace detail

/// Decodes a JPEG file to RGB. Grey and CMYK become RGB. The orientation that a camera notes is ignored.
///
/// errors  R60 it is damaged, ends early, or has more than `most_pixels`
inline void decode_jpeg(std::span<std::uint8_t const> bytes, std::string const& name, image& to,
                        std::int64_t most_pixels = image::most_pixels) {
  detail::jpeg_file(bytes, name).decode(to, most_pixels);
}

}  // namespace meshtensor::datasets

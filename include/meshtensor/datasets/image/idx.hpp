// SPDX-License-Identifier: Apache-2.0
// Reads IDX files, the format of MNIST's images and labels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/datasets/image/image_set.hpp"
#include "meshtensor/datasets/packed.hpp"

namespace meshtensor::datasets {

/// An array of bytes, row-major.
struct idx_array {
  std::vector<std::int64_t> extents;
  std::vector<std::uint8_t> bytes;
};

/// The array in an IDX file. `file` is its name in error sentences.
///
/// errors  R64 it is not IDX, its elements are not bytes, or it ends early or late
inline idx_array idx_of(std::vector<std::uint8_t> bytes, std::string const& file) {
  if (bytes.size() < 4 || bytes[0] != 0 || bytes[1] != 0)
    throw error("R64",
                {"'", file, "' is not an IDX file, for it does not begin with two zeros: name one, or, if it is ",
                 "packed, let its name end in .gz"});
  if (bytes[2] != 8) throw error("R64", {"'", file, "' has elements of IDX's type ", bytes[2], ", not bytes, type 8"});
  idx_array r;
  std::size_t const dims = bytes[3], head = 4 + 4 * dims;
  std::size_t count = 1, most = bytes.size();
  for (std::size_t d = 0; d < dims && head <= bytes.size(); ++d) {
    std::size_t extent = 0;
    for (std::size_t i = 0; i < 4; ++i) extent = extent << 8 | bytes[4 + 4 * d + i];
    r.extents.push_back(static_cast<std::int64_t>(extent));
    count = extent != 0 && count > most / extent ? most + 1 : count * extent;
  }
  if (dims == 0 || head > bytes.size() || count != bytes.size() - head)
    throw error("R64", {"'", file, "' has ", bytes.size(),
                        " bytes, not as many as the extents at its beginning say: ", "copy it again"});
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(head));
  r.bytes = std::move(bytes);
  return r;
}

/// Reads an IDX file, and unpacks it if its name ends in .gz.
///
/// errors  R64 it is not IDX; C02 it cannot be read; R52 it cannot be unpacked
inline idx_array read_idx(std::filesystem::path const& file) { return idx_of(read_unpacked(file), file.string()); }

/// The grey images of one IDX file, [images, height, width], with the labels of another file, [images].
class idx_images : public image_set {
 public:
  /// errors  R64 a file is not IDX; R89 the two do not belong together; C02, R52 a file cannot be read
  idx_images(std::filesystem::path const& images, std::filesystem::path const& labels)
      : idx_images(read_idx(images), read_idx(labels), images.string(), labels.string()) {}
  /// `file` and `other` are the names of images and labels in error sentences.
  idx_images(idx_array images, idx_array labels, std::string file, std::string const& other)
      : images_(std::move(images)), labels_(std::move(labels)), file_(std::move(file)) {
    if (images_.extents.size() != 3 || images_.bytes.empty())
      throw error("R64", {"'", file_, "' has no images: its array has ", images_.extents.size(), " dims and ",
                          images_.bytes.size(), " bytes, and images are [images, height, width]"});
    if (labels_.extents.size() != 1 || labels_.extents[0] != images_.extents[0])
      throw error("R89", {"'", other, "' has not the labels of '", file_, "': it has ", labels_.bytes.size(),
                          " elements in ", labels_.extents.size(), " dims for ", images_.extents[0], " images"});
    classes_ = numbered_classes(*std::max_element(labels_.bytes.begin(), labels_.bytes.end()) + 1);
  }

  std::int64_t size() const override { return images_.extents[0]; }
  std::vector<std::string> const& classes() const override { return classes_; }
  std::int32_t label(std::int64_t number) const override { return labels_.bytes[static_cast<std::size_t>(number)]; }
  std::string name(std::int64_t number) const override { return file_ + ": " + std::to_string(number); }
  std::string key(std::int64_t number) const override { return std::to_string(number); }
  int channels() const override { return 1; }
  void read(std::int64_t number, image& to) const override {
    to.resize(images_.extents[1], images_.extents[2]);
    std::uint8_t const* grey = images_.bytes.data() + number * to.height * to.width;
    for (std::size_t i = 0; i < to.pixels.size(); ++i) to.pixels[i] = grey[i / 3];
  }

 private:
  idx_array images_, labels_;
  std::string file_;
  std::vector<std::string> classes_;
};

}  // namespace meshtensor::datasets

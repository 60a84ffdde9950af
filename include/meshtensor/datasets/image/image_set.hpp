// SPDX-License-Identifier: Apache-2.0
// The interface of all sets of images with labels. It does not depend on where the images are stored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "meshtensor/datasets/image/image.hpp"

namespace meshtensor::datasets {

/// Images numbered from 0, each of one class. Derive a class from it to read images of another format. Several threads
/// may read at once.
class image_set {
 public:
  virtual ~image_set() = default;

  /// The number of images. Batches need at least one.
  virtual std::int64_t size() const = 0;
  /// The names of the classes. Labels are indices into this list.
  virtual std::vector<std::string> const& classes() const = 0;
  /// The class of an image: at least 0, and less than the number of classes.
  virtual std::int32_t label(std::int64_t number) const = 0;
  /// The image's name in error sentences: its file, or its position in a file.
  virtual std::string name(std::int64_t number) const = 0;
  /// The name of the image within the set. It does not depend on the folder in which the set is.
  virtual std::string key(std::int64_t number) const { return name(number); }
  /// 1 if all images are grey, 3 if all have colours. errors R66 some are grey and some have colours
  virtual int channels() const { return 3; }
  /// Decodes an image. It sets the extents by `to.resize(height, width)`, and then writes three bytes for each pixel:
  /// red, green and blue. A grey image gets three equal bytes. The sizes of images may differ. If an image is damaged,
  /// `image_is_damaged(name(number), …)` throws R60. Batches pass every other exception on, also with `skip_damaged`.
  virtual void read(std::int64_t number, image& to) const = 0;
};

namespace detail {
/// Refuses what a set gives for one of its images. errors R97 the bytes do not fit the extents, or there is no class of
/// this label
inline void check_image_of(image_set const& set, std::int64_t number, image const& has) {
  std::int64_t const bytes = std::ssize(has.pixels);
  bool const fits = has.height > 0 && has.width > 0 && has.height <= bytes && has.width <= bytes / has.height &&
                    has.height * has.width * 3 == bytes;
  if (!fits)
    throw error("R97", {"the image '", set.name(number), "' has ", bytes, " bytes and ", has.height, " x ", has.width,
                        " pixels: give each pixel three bytes, red, green and blue, also if it is grey"});
  std::int32_t const label = set.label(number);
  auto const classes = std::ssize(set.classes());
  if (label < 0 || label >= classes)
    throw error("R97", {"the image '", set.name(number), "' has the label ", label, ", but the set has ", classes,
                        " classes: labels count from 0"});
}
}  // namespace detail

/// Names for classes that have none: `0`, `1`, `2`, …
inline std::vector<std::string> numbered_classes(std::int64_t count) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

}  // namespace meshtensor::datasets

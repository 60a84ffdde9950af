// SPDX-License-Identifier: Apache-2.0
// The interface of all sets of images with labels. It does not depend on where the images are stored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "meshtensor/datasets/image/image.hpp"

namespace meshtensor::datasets {

/// Images numbered from 0, each of one class. Several threads may read at once.
class image_set {
 public:
  virtual ~image_set() = default;

  virtual std::int64_t size() const = 0;
  /// The names of the classes. Labels are indices into this list.
  virtual std::vector<std::string> const& classes() const = 0;
  virtual std::int32_t label(std::int64_t number) const = 0;
  /// The image's name in error sentences: its file, or its position in a file.
  virtual std::string name(std::int64_t number) const = 0;
  /// The name of the image within the set. It does not depend on the folder in which the set is.
  virtual std::string key(std::int64_t number) const { return name(number); }
  /// 1 if all images are grey, 3 if all have colours. errors R66 some are grey and some have colours
  virtual int channels() const { return 3; }
  /// Decodes an image. A grey image gets three equal bytes for each pixel. errors R60 it is damaged
  virtual void read(std::int64_t number, image& to) const = 0;
};

/// Names for classes that have none: `0`, `1`, `2`, …
inline std::vector<std::string> numbered_classes(std::int64_t count) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

}  // namespace meshtensor::datasets

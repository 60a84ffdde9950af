// SPDX-License-Identifier: Apache-2.0
// The interface of all sets of images with labels, wherever they are stored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "meshtensor/data/image/image.hpp"

namespace meshtensor {

/// Images numbered from 0, each of one class. Several threads may read at once.
class image_set {
 public:
  virtual ~image_set() = default;

  virtual std::int64_t size() const = 0;
  /// The names of the classes; labels count them from 0.
  virtual std::vector<std::string> const& classes() const = 0;
  virtual std::int32_t label(std::int64_t number) const = 0;
  /// For a sentence about the image: its file, or its place in one.
  virtual std::string name(std::int64_t number) const = 0;
  /// What the image is called within the set, whatever folder the set is in.
  virtual std::string key(std::int64_t number) const { return name(number); }
  /// 1 if all images are grey, 3 if all have colours. errors R66 some are grey and some have colours
  virtual int channels() const { return 3; }
  /// Decodes an image; a grey one has three equal bytes for each pixel. errors R60 it is damaged
  virtual void read(std::int64_t number, image& to) const = 0;
};

/// `0`, `1`, `2`, …: the names of classes that have none.
inline std::vector<std::string> numbered_classes(std::int64_t count) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

}  // namespace meshtensor

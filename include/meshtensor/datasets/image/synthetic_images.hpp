// SPDX-License-Identifier: Apache-2.0
// Synthetic images to try a training with: coloured patches that depend on the class, plus noise.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "meshtensor/base/philox.hpp"
#include "meshtensor/datasets/image/image_set.hpp"

namespace meshtensor::datasets {

/// Images to try a training with. They depend only on seed and number, are the same on every machine, and are easy to
/// learn.
class synthetic_images : public image_set {
 public:
  struct options {
    std::int64_t count = 1024, classes = 10, height = 64, width = 64;
    std::uint64_t seed = 1;
  };
  /// errors  R65 there is no image or no class
  explicit synthetic_images(options const& o) : o_(o), classes_(numbered_classes(o.classes)) {
    if (o.count < 1 || o.classes < 1 || o.height < 1 || o.width < 1)
      throw error("R65", {o.count, " synthetic images of ", o.height, " x ", o.width, " pixels in ", o.classes,
                          " classes are none: each of these is at least 1"});
  }

  std::int64_t size() const override { return o_.count; }
  std::vector<std::string> const& classes() const override { return classes_; }
  std::int32_t label(std::int64_t number) const override { return static_cast<std::int32_t>(number % o_.classes); }
  std::string name(std::int64_t number) const override { return "synthetic image " + std::to_string(number); }
  /// Decodes an image. Three quarters of a byte come from the patch, and one quarter is noise.
  void read(std::int64_t number, image& to) const override {
    to.resize(o_.height, o_.width);
    random_stream const of_class({o_.seed, 0x7061746368ull, 0}, static_cast<std::uint64_t>(label(number)));
    random_stream const noise({o_.seed, 0x6e6f697365ull, 0}, static_cast<std::uint64_t>(number));
    std::array<philox_counter, patches * patches> colour;
    for (std::size_t p = 0; p < colour.size(); ++p) colour[p] = of_class.words(p);
    std::uint8_t* byte = to.pixels.data();
    std::uint64_t drawn = 0;
    philox_counter words{};
    for (std::int64_t y = 0; y < o_.height; ++y)
      for (std::int64_t x = 0; x < o_.width; ++x) {
        auto const patch = static_cast<std::size_t>(y * patches / o_.height * patches + x * patches / o_.width);
        if (drawn % 4 == 0) words = noise.words(drawn / 4);
        std::uint32_t const word = words[drawn++ % 4];
        for (std::size_t c = 0; c < 3; ++c)
          *byte++ = static_cast<std::uint8_t>((3 * (colour[patch][c] >> 24) + (word >> (8 * c) & 0xff)) / 4);
      }
  }

 private:
  static constexpr std::int64_t patches = 4;  // along each side
  options o_;
  std::vector<std::string> classes_;
};

}  // namespace meshtensor::datasets

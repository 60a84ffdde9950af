// SPDX-License-Identifier: Apache-2.0
// Batches of images for a network, decoded, cropped, flipped and normalized. The content of a row depends only on the
// seed and its position.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "meshtensor/base/parts.hpp"
#include "meshtensor/base/philox.hpp"
#include "meshtensor/datasets/image/crops.hpp"
#include "meshtensor/datasets/image/image_channels.hpp"
#include "meshtensor/datasets/image/image_set.hpp"
#include "meshtensor/datasets/image/resample.hpp"
#include "meshtensor/datasets/permutation.hpp"
#include "meshtensor/datasets/text/pair_batches.hpp"

namespace meshtensor::datasets {

/// A rank's share of a batch: of its rows, and of the height and width of each image. A dim that no axis shards is
/// whole.
struct image_part {
  batch_part rows{}, height{}, width{};
};

/// A batch, or a rank's part of one, row-major.
struct image_batch {
  std::vector<float> pixels;         // [rows, height, width, channels]
  std::vector<std::int32_t> labels;  // [rows]
  std::vector<float> counts;         // [rows]: 1, or 0 in a row without an image, whose pixels and label are 0
  std::vector<std::int64_t> images;  // [rows]: the number in the set, or −1
  std::vector<std::string> skipped;  // a sentence for each damaged image among these
};

/// The part of an image that a network learns from. `random` has a random area and aspect and is resized. `moved` is
/// the whole image, moved by a few pixels. `middle` is the middle.
enum class image_crop { random, moved, middle };

/// The size of the batches of `image_batches`, and how they treat images.
struct image_options {
  std::int64_t rows = 32, height = 224, width = 224;
  /// With a seed, images come in another order in each epoch, without end, and they are cropped and flipped at random.
  /// Without a seed, they come in their order, once, and the middle of each image is seen.
  std::optional<std::uint64_t> seed = {};
  image_crop crop = image_crop::random;
  crop_bounds bounds = {};      // of random crops
  std::int64_t most_moved = 4;  // pixels; the gap at the border becomes black
  bool flip = true;
  /// For the middle: the size to which the shorter side of the image is resized. 0 is 8/7 of the longer side of the
  /// crop, for example 256 for 224.
  std::int64_t shorter = 0;
  /// 3 gives colours, and a grey image gets three equal ones. 1 gives grey, computed from colours by the usual weights.
  /// 0 gives the channels that all images of the set have.
  int channels = 0;
  /// A pixel is (byte / 255 − mean) / deviation. The defaults are ImageNet's. Grey uses the means of the three values.
  std::array<float, 3> mean{0.485f, 0.456f, 0.406f}, deviation{0.229f, 0.224f, 0.225f};
  /// If true, the row of a damaged image stays without an image, and the batch names the image. Otherwise R60 is
  /// thrown.
  bool skip_damaged = false;
};

/// Batches of a set of images. The set must outlive them. A batch is identified by the position of its first row in the
/// sequence of all epochs. Each epoch has size() positions, so that every image comes once in it for any number of
/// rows. Several threads may read at once.
class image_batches {
 public:
  /// errors  R65 a batch has no rows, images have no pixels, or the set has no image; R66 the options name no channels,
  /// and some images are grey and some have colours; R90 there is no such number of channels; R91 the bounds of crops
  /// do not fit each other
  image_batches(image_set const& set, image_options const& o) : set_(set), o_(o) {
    if (o.channels != 0 && o.channels != 1 && o.channels != 3)
      throw error("R90", {"images have no ", o.channels,
                          " channels: ask for 3, for 1, which is grey, or for 0, as all ", "images of the set are"});
    if (o.rows < 1 || o.height < 1 || o.width < 1)
      throw error("R65", {"a batch of ", o.rows, " images of ", o.width, " x ", o.height,
                          " pixels is none: each of these is at least 1"});
    if (set.size() < 1) throw error("R65", {"a set of images has no image: check the size() of the set"});
    if (o.shorter < 0 || o.most_moved < 0 || o.bounds.least_area > o.bounds.most_area || !(o.bounds.least_area > 0) ||
        o.bounds.least_aspect > o.bounds.most_aspect || !(o.bounds.least_aspect > 0))
      throw error("R91", {"images cannot be cropped by these options: sizes are not negative, areas and aspects are ",
                          "positive, and the least is not above the most"});
    if (o_.shorter == 0) o_.shorter = std::max(o.height, o.width) * 8 / 7;
    if (o_.channels == 0) o_.channels = set.channels();
    if (o_.channels == 1)
      for (std::array<float, 3>* const each : {&o_.mean, &o_.deviation})
        each->fill(((*each)[0] + (*each)[1] + (*each)[2]) / 3);
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t v = 0; v < 256; ++v)
        normalized_[c][v] = (static_cast<float>(v) / 255.0f - o_.mean[c]) / o_.deviation[c];
  }

  /// The options, with the number of channels that the batches have, 1 or 3.
  image_options const& options() const { return o_; }
  /// The number of images, which is the number of positions in an epoch.
  std::int64_t size() const { return set_.size(); }
  /// The number of batches in which every image comes once.
  std::int64_t per_epoch() const { return (size() + o_.rows - 1) / o_.rows; }

  /// Reads the batch whose first row has this position, or a part of it. It decodes only the images of the part.
  ///
  /// errors  R60 an image is damaged; R92 there is no such position or part; R93 an image is too small for its crop;
  /// R97 an image has not three bytes for each pixel, or a label beyond the classes. The set's own exceptions pass
  void read(std::int64_t place, image_batch& to, image_part const& mine = {}) const {
    interval const rows = share(o_.rows, mine.rows, place);
    interval const height = share(o_.height, mine.height, place), width = share(o_.width, mine.width, place);
    auto const count = static_cast<std::size_t>(rows.count);
    std::int64_t const of_image = height.count * width.count * o_.channels;
    to.pixels.resize(count * static_cast<std::size_t>(of_image));
    to.labels.assign(count, 0), to.counts.assign(count, 0), to.images.assign(count, -1), to.skipped.clear();
    memory m;
    for (std::size_t row = 0; row < count; ++row) {
      float* const pixels = to.pixels.data() + static_cast<std::int64_t>(row) * of_image;
      std::optional<source> const from = source_of(place + rows.begin + static_cast<std::int64_t>(row));
      if (!from || !read_image(from->number, m.whole, to)) {
        std::fill_n(pixels, of_image, 0.0f);
        continue;
      }
      to.labels[row] = set_.label(from->number), to.counts[row] = 1, to.images[row] = from->number;
      show(*from, height, width, m, pixels);
    }
  }

 private:
  struct source {
    std::int64_t number;
    std::optional<random_stream> random;
  };
  struct memory {
    image whole, seen, rows;
  };

  static interval share(std::int64_t extent, batch_part const& mine, std::int64_t place) {
    if (place < 0 || mine.part < 0 || mine.part >= mine.of)
      throw error("R92", {"there is no part ", mine.part, " of ", mine.of, " of the batch at ", place,
                          ": places and parts count from 0"});
    return part_of(extent, mine.of, mine.part);
  }
  /// The image at a position.
  std::optional<source> source_of(std::int64_t place) const {
    if (!o_.seed) return place < size() ? std::optional<source>({place, {}}) : std::nullopt;
    auto const epoch = static_cast<std::uint64_t>(place / size());
    std::int64_t const number = permutation(size(), {*o_.seed, 0x6f72646572ull, epoch})(place % size());
    random_key const key{*o_.seed, 0x696d61676573ull, epoch};
    return source{number, random_stream(key, static_cast<std::uint64_t>(number))};
  }
  bool read_image(std::int64_t number, image& whole, image_batch& to) const {
    try {
      set_.read(number, whole);
      detail::check_image_of(set_, number, whole);
      if (o_.channels == 1) make_grey(whole);  // before it is resized, as in Pillow
      return true;
    } catch (error const& e) {
      if (!o_.skip_damaged || e.code() != "R60") throw;
      to.skipped.push_back(e.sentence());
      return false;
    }
  }

  /// The view of an image, and whether it is mirrored.
  std::pair<image_view, bool> view_of(source const& from, image const& whole) const {
    if (!from.random) return {centre_crop(whole.height, whole.width, o_.shorter, o_.height, o_.width), false};
    auto const words = from.random->words(10);  // a random crop takes the words before 10
    bool const mirrored = o_.flip && (words[0] & 1) != 0;
    image_view v{{0, 0, whole.height, whole.width}, o_.height, o_.width, {0, 0, o_.height, o_.width}};
    if (o_.crop == image_crop::middle) v = centre_crop(whole.height, whole.width, o_.shorter, o_.height, o_.width);
    if (o_.crop == image_crop::random) v.from = random_crop(*from.random, whole.height, whole.width, o_.bounds);
    if (o_.crop == image_crop::moved) {
      v.window.top = detail::drawn_up_to(2 * o_.most_moved, words[1]) - o_.most_moved;
      v.window.left = detail::drawn_up_to(2 * o_.most_moved, words[2]) - o_.most_moved;
    }
    return {v, mirrored};
  }
  /// Writes the part `rows` x `columns` of the view of `m.whole`.
  void show(source const& from, interval rows, interval columns, memory& m, float* pixels) const {
    auto const [v, mirrored] = view_of(from, m.whole);
    std::int64_t const left = mirrored ? o_.width - columns.begin - columns.count : columns.begin;
    image_box const wanted{v.window.top + rows.begin, v.window.left + left, rows.count, columns.count};
    std::int64_t const top = std::clamp<std::int64_t>(wanted.top, 0, v.height);
    std::int64_t const first = std::clamp<std::int64_t>(wanted.left, 0, v.width);
    image_box const inside{top, first, std::clamp<std::int64_t>(wanted.top + wanted.height, top, v.height) - top,
                           std::clamp<std::int64_t>(wanted.left + wanted.width, first, v.width) - first};
    if (inside != wanted)
      for (std::int64_t i = 0; i < rows.count * columns.count * o_.channels; ++i)
        pixels[i] = normalized_[static_cast<std::size_t>(i % o_.channels)][0];
    resample(m.whole, v.from, v.height, v.width, inside, m.seen, m.rows);
    std::int64_t const step = mirrored ? -o_.channels : o_.channels, begin = inside.left - wanted.left;
    auto const channels = static_cast<std::size_t>(o_.channels);
    for (std::int64_t y = 0; y < inside.height; ++y) {
      std::uint8_t const* byte = m.seen.row(y);
      float* to =
          pixels + ((inside.top - wanted.top + y) * columns.count + (mirrored ? columns.count - 1 - begin : begin)) *
                       o_.channels;
      for (std::int64_t x = 0; x < inside.width; ++x, byte += 3, to += step)
        for (std::size_t c = 0; c < channels; ++c) to[c] = normalized_[c][byte[c]];
    }
  }

  image_set const& set_;
  image_options o_;
  std::array<std::array<float, 256>, 3> normalized_{};
};

}  // namespace meshtensor::datasets

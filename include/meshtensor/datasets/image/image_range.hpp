// SPDX-License-Identifier: Apache-2.0
// A range of a set of images, used as a set. For example, it splits data that comes without a validation part.
#pragma once

#include "meshtensor/datasets/image/image_set.hpp"

namespace meshtensor::datasets {

/// `count` images of another set from `first` on, or all that follow if the count is negative. The other set must
/// outlive it.
class image_range : public image_set {
 public:
  /// errors  R92 the set has no such range
  image_range(image_set const& of, std::int64_t first, std::int64_t count = -1)
      : of_(of), first_(first), count_(count < 0 ? of.size() - first : count) {
    if (first < 0 || count_ < 1 || first > of.size() - count_)
      throw error("R92", {"the images from ", first, " to before ", first + count_, " are no range of ", of.size(),
                          " images: take fewer"});
  }

  std::int64_t size() const override { return count_; }
  std::vector<std::string> const& classes() const override { return of_.classes(); }
  std::int32_t label(std::int64_t number) const override { return of_.label(first_ + number); }
  std::string name(std::int64_t number) const override { return of_.name(first_ + number); }
  std::string key(std::int64_t number) const override { return of_.key(first_ + number); }
  int channels() const override { return of_.channels(); }
  void read(std::int64_t number, image& to) const override { of_.read(first_ + number, to); }

 private:
  image_set const& of_;
  std::int64_t first_, count_;
};

}  // namespace meshtensor::datasets

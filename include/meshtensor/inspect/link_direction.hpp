// SPDX-License-Identifier: Apache-2.0
// Tells when one direction of a link is busy, in a model in which it carries one message at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "meshtensor/base/saturating.hpp"

namespace meshtensor::detail {

/// One direction of a link. It carries one message at a time. A message may go in front of the last one that it was
/// asked for, if that one begins late enough.
class link_direction {
 public:
  std::int64_t earliest(std::int64_t ready, std::int64_t takes) const {
    std::int64_t const before = std::max(ready, free_from_);
    return saturated_sum(before, takes) <= begin_ ? before : std::max(ready, end_);
  }
  std::int64_t end() const { return end_; }
  void reserve(std::int64_t begin, std::int64_t end) {
    if (end <= begin_) free_from_ = end;
    else if (begin == end_) end_ = end;
    else free_from_ = end_, begin_ = begin, end_ = end;
  }

 private:
  std::int64_t free_from_ = 0;        // where the time before the last message begins
  std::int64_t begin_ = 0, end_ = 0;  // of the last message, or of several without time between them
};

}  // namespace meshtensor::detail

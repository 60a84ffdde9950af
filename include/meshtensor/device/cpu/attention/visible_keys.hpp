// SPDX-License-Identifier: Apache-2.0
// Finds the keys that a query of attention sees, by causality and by a mask, and hides the scores of the other keys.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "meshtensor/device/cpu/attention/problem.hpp"
#include "meshtensor/device/cpu/load.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// The visible keys of one batch and head, whose scores have type T.
template <class T>
class visible_keys {
 public:
  /// A hidden score has weight 0 for any maximum, even if a query sees no key, because the maximum starts at the lowest
  /// finite value of E.
  static constexpr T hidden_score = -std::numeric_limits<T>::infinity();

  /// `memory` is the number of keys, rounded up to blocks.
  visible_keys(attention_sizes const& s, std::int64_t memory) : s_(s), memory_(memory) {}

  /// The number of keys that the query at `row` sees.
  std::int64_t visible_to(std::int64_t row) const {
    return s_.causal ? std::min(s_.memory, s_.ahead + row + 1) : s_.memory;
  }

  /// The number of bounds. A score is limited to its key's bound, which is a hidden score if the key is not visible.
  std::int64_t bounds() const { return s_.masked ? memory_ : 0; }
  void set_bounds(attention_rows visible, T* room) {
    visible_ = visible, bounds_ = room;
    if (!s_.each) set_bounds(0, 0, bounds());
  }

  /// Hides the scores of keys from m on that a query does not see, even if they are NaN.
  void bound(T* score, std::int64_t query, std::int64_t m, std::int64_t count) {
    if (s_.each) set_bounds(query, m, count);
    for (std::int64_t j = 0; j < count; j += width) {
      vec<T> const limit = load<T>(static_cast<T const*>(bounds_ + m + j));
      store(select(vec<T>(hidden_score) < limit, load<T>(static_cast<T const*>(score + j)), limit), score + j);
    }
  }
  /// Hides the keys after the visible ones, and lanes without a key.
  static vec<T> hidden(vec<T> x, std::int64_t j, std::int64_t visible) {
    if (j + width <= visible) return x;
    return select(lane_numbers<T>(static_cast<T>(j)) < vec<T>(static_cast<T>(visible)), x, vec<T>(hidden_score));
  }

 private:
  static constexpr int width = vec<T>::width;
  void set_bounds(std::int64_t query, std::int64_t first, std::int64_t count) {
    bool const* const visible = static_cast<bool const*>(visible_.data) + query * visible_.column;
    for (std::int64_t j = first; j < first + count; ++j)
      bounds_[j] = j < s_.memory && visible[j * visible_.row] ? std::numeric_limits<T>::infinity() : hidden_score;
  }

  attention_sizes s_;
  attention_rows visible_{};
  std::int64_t memory_;
  T* bounds_ = nullptr;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

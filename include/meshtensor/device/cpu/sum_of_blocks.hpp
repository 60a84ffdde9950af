// SPDX-License-Identifier: Apache-2.0
// Adds many blocks of numbers of one size. After each sum_fan_in blocks, the sum is carried one level up, so that the
// error grows with the logarithm of their number.
#pragma once

#include <algorithm>

#include "meshtensor/base/sum.hpp"
#include "meshtensor/device/cpu/load.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// Adds x[i] to to[i] for i in [0, n).
template <class T>
inline void merge_numbers(T* to, T const* x, std::int64_t n) {
  constexpr int width = vec<T>::width;
  std::int64_t i = 0;
  for (; i + width <= n; i += width) store(load<T>(static_cast<T const*>(to + i)) + load<T>(x + i), to + i);
  for (; i < n; ++i) to[i] += x[i];
}

/// The levels of a sum of blocks, in memory that the caller gives. The caller adds each block to the lowest level, or
/// stores it there:
///
///     level_sums<float> levels(sums, upper, apart, n);
///     for (...) add_block(sums, levels.next());  // false: store, because the level begins anew
///     levels.end();                              // `sums` is the sum of all blocks
template <class T>
class level_sums {
 public:
  /// `upper` has levels_of_sum(blocks) - 1 levels, and each is `apart` numbers behind the previous one.
  level_sums(T* sums, T* upper, std::int64_t apart, std::int64_t elements)
      : sums_(sums), upper_(upper), apart_(apart), n_(elements) {}

  /// Call this before each block. It returns whether the block is to be added.
  bool next() {
    bool const begins = added_ % sum_fan_in == 0;
    if (begins && added_ != 0) carry();
    ++added_;
    return !begins;
  }
  void end() {
    std::int64_t below = sum_fan_in;
    for (T* level = upper_; added_ > below; below *= sum_fan_in, level += apart_) merge_numbers(sums_, level, n_);
  }

 private:
  /// An upper level counts from its first carry on, and begins anew when it is carried itself.
  void carry() {
    T const* from = sums_;
    std::int64_t below = sum_fan_in;
    for (T* to = upper_;; to += apart_, below *= sum_fan_in) {
      if (added_ == below) std::copy_n(from, n_, to);
      else merge_numbers(to, from, n_);
      if (from != sums_) std::fill_n(to - apart_, n_, T(0));
      if (added_ / below % sum_fan_in != 0) return;
      from = to;
    }
  }

  T *sums_, *upper_;
  std::int64_t apart_, n_, added_ = 0;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

// SPDX-License-Identifier: Apache-2.0
// Computes attention for a few queries, as in autoregressive decoding. Keys and values are read once, in place, and
// only up to the last key that a query sees.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

#include "meshtensor/device/cpu/attention/problem.hpp"
#include "meshtensor/device/cpu/fused/across_lanes.hpp"
#include "meshtensor/device/cpu/load.hpp"
#include "meshtensor/device/cpu/math.hpp"
#include "meshtensor/device/cpu/matmul/dot_tile.hpp"
#include "meshtensor/device/cpu/matmul/small_product.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// Attention for the queries of one batch and head, with elements of type T.
template <class T>
class attention_of_few {
  static constexpr std::int64_t width = vec<T>::width;

 public:
  static bool takes(attention_sizes const& s, attention_rows q, attention_rows k, attention_rows v) {
    bool const is_contiguous = q.column == 1 && k.column == 1 && v.column == 1;
    return s.length <= 8 && !s.causal && s.value_head % width == 0 && is_contiguous;
  }
  explicit attention_of_few(attention_sizes const& s) : s_(s), wide_((s.memory + width - 1) / width * width) {}

  std::int64_t bytes() const {
    auto const all = s_.length * (wide_ + s_.value_head) * static_cast<std::int64_t>(sizeof(T));
    return (all + 63) / 64 * 64;
  }

  /// `next_k` has the keys of the next head, which are prefetched meanwhile.
  [[gnu::flatten]] void run(attention_rows q, attention_rows k, attention_rows v, attention_rows visible,
                            attention_rows y, attention_rows log_sum, attention_rows next_k,
                            std::byte* workspace) const {
    T *const scores = reinterpret_cast<T*>(workspace), *const accumulated = scores + s_.length * wide_;
    T const *const keys = static_cast<T const*>(k.data), *const values = static_cast<T const*>(v.data);
    block_view<T const> const queries{static_cast<T const*>(q.data), q.row};
    std::int64_t const end = last_visible(visible), whole = end / width * width;
    for (std::int64_t j = 0; j < whole; j += width) {
      dot_tile<T>(s_.length, width, s_.head, queries, {keys + j * k.row, k.row}, {scores + j, wide_});
      fetch(values + j * v.row, v.row, s_.value_head);
      fetch(static_cast<T const*>(next_k.data) + j * k.row, k.row, s_.head);
    }
    if (whole < end)
      dot_tile<T>(s_.length, end - whole, s_.head, queries, {keys + whole * k.row, k.row}, {scores + whole, wide_});
    T total[8];
    for (std::int64_t i = 0; i < s_.length; ++i) {
      T const greatest = scale(scores + i * wide_, end, visible, i);
      total[i] = weigh(scores + i * wide_, end, greatest);
      if (total[i] == T(0)) total[i] = 1;  // a query without visible keys
      static_cast<T*>(log_sum.data)[i * log_sum.row] = greatest + math::log(total[i]);
    }
    small_product<T>(s_.length, s_.value_head, end, {scores, wide_}, {values, v.row}, {accumulated, s_.value_head},
                     false);
    for (std::int64_t i = 0; i < s_.length; ++i) {
      T* const to = static_cast<T*>(y.data) + i * y.row;
      T const by = T(1) / total[i];
      for (std::int64_t j = 0; j < s_.value_head; j += width) {
        vec<T> const x = load<T>(static_cast<T const*>(accumulated + i * s_.value_head + j)) * vec<T>(by);
        if (y.column == 1) store(x, to + j);
        else store_strided(x, to + j * y.column, y.column);
      }
    }
  }

 private:
  /// Prefetches as many rows as a register has lanes.
  static void fetch(T const* rows, std::int64_t stride, std::int64_t elements) {
    constexpr std::int64_t line = 64 / sizeof(T);
    for (std::int64_t i = 0; i < width; ++i)
      for (std::int64_t j = 0; j < elements; j += line) __builtin_prefetch(rows + i * stride + j, 0, 2);
  }

  /// The end of the visible keys, which is one more than the last key that any query sees.
  std::int64_t last_visible(attention_rows visible) const {
    if (!s_.masked) return s_.memory;
    std::int64_t last = 0;
    for (std::int64_t i = 0; i < (s_.each ? s_.length : 1); ++i) {
      bool const* const open = static_cast<bool const*>(visible.data) + i * visible.column;
      std::int64_t j = s_.memory;
      for (std::uint64_t eight = 0; visible.row == 1 && j >= 8; j -= 8) {
        std::memcpy(&eight, open + j - 8, sizeof eight);
        if (eight != 0) break;
      }
      while (j > 0 && !open[(j - 1) * visible.row]) --j;
      last = std::max(last, j);
    }
    return last;
  }

  /// Scales products to scores, and hides the scores of keys that query i does not see. Returns the maximum.
  T scale(T* score, std::int64_t count, attention_rows visible, std::int64_t i) const {
    vec<T> const by(static_cast<T>(s_.scale));
    vec<T> most(static_cast<T>(least_finite<T>));
    std::int64_t j = 0;
    for (; j + width <= count; j += width) {
      vec<T> const x = shown(load<T>(static_cast<T const*>(score + j)) * by, visible, i, j, static_cast<int>(width));
      store(x, score + j);
      most = greater(most, x);
    }
    if (j == count) return greatest_of_lanes(most);
    int const rest = static_cast<int>(count - j);
    vec<T> const x = shown(load<T>(static_cast<T const*>(score + j), rest) * by, visible, i, j, rest);
    store(x, score + j, rest);
    auto const there = lane_numbers<T>() < vec<T>(static_cast<T>(rest));
    return greatest_of_lanes(greater(most, select(there, x, most)));
  }
  /// Turns scores into weights, and returns their sum.
  static T weigh(T* score, std::int64_t count, T greatest) {
    vec<T> sum(T(0));
    std::int64_t j = 0;
    for (; j + width <= count; j += width) {
      vec<T> const x = math::exp_of_weight(load<T>(static_cast<T const*>(score + j)) - vec<T>(greatest));
      store(x, score + j);
      sum = sum + x;
    }
    if (j == count) return sum_of_lanes(sum);
    int const rest = static_cast<int>(count - j);
    vec<T> const x = math::exp_of_weight(load<T>(static_cast<T const*>(score + j), rest) - vec<T>(greatest));
    store(x, score + j, rest);
    auto const there = lane_numbers<T>() < vec<T>(static_cast<T>(rest));
    return sum_of_lanes(sum + select(there, x, vec<T>(T(0))));
  }
  /// The scores of the n keys from j on, masked for query i.
  vec<T> shown(vec<T> x, attention_rows visible, std::int64_t i, std::int64_t j, int n) const {
    if (!s_.masked) return x;
    using word = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    bool const* const open =
        static_cast<bool const*>(visible.data) + (s_.each ? i * visible.column : 0) + j * visible.row;
    vec<word> const sees = visible.row != 1 ? load_strided<word>(open, visible.row, n)
                           : n == width     ? load<word>(open)
                                            : load<word>(open, n);
    return select(mask_as<T>(sees != vec<word>(0)), x, vec<T>(-std::numeric_limits<T>::infinity()));
  }

  attention_sizes s_;
  std::int64_t wide_;  // the number of keys, rounded up to whole registers
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

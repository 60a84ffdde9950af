// SPDX-License-Identifier: Apache-2.0
// Computes flash attention for one batch and head, in blocks on registers (Dao et al., arXiv:2205.14135). It never
// stores all scores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "meshtensor/device/cpu/attention/blocks.hpp"
#include "meshtensor/device/cpu/attention/problem.hpp"
#include "meshtensor/device/cpu/attention/visible_keys.hpp"
#include "meshtensor/device/cpu/fused/across_lanes.hpp"
#include "meshtensor/device/cpu/math.hpp"
#include "meshtensor/device/cpu/matmul/small_product.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// Attention for the queries of a head, a block at a time. T is the type of the computation, and E is the type in
/// memory.
template <class T, class E>
class attention_forward {
  using blocks = attention_blocks<T, E>;
  static constexpr std::int64_t block = blocks::block;
  static constexpr int width = blocks::width;

 public:
  explicit attention_forward(attention_sizes const& s)
      : s_(s),
        head_(blocks::padded(s.head)),
        value_(blocks::padded(s.value_head)),
        memory_(blocks::blocks_of(s.memory) * block),
        keys_(s, memory_) {}

  std::int64_t bytes() const {
    return blocks::bytes(s_.head * memory_ + s_.memory * value_ + block * (head_ + value_ + block + 4) +
                         keys_.bounds());
  }

  /// Prepares the data that all queries of the head share: transposed keys, values, and the mask if there is one.
  [[gnu::flatten]] void prepare(attention_rows k, attention_rows v, attention_rows visible, std::byte* workspace) {
    T* at = reinterpret_cast<T*>(workspace);
    keys_transposed_ = blocks::take(at, s_.head * memory_), values_ = blocks::take(at, s_.memory * value_);
    query_ = blocks::take(at, block * head_), accumulator_ = blocks::take(at, block * value_),
    scores_ = blocks::take(at, block * block);
    greatest_ = blocks::take(at, block), total_ = blocks::take(at, block);
    next_greatest_ = blocks::take(at, block), before_ = blocks::take(at, block);
    keys_.set_bounds(visible, blocks::take(at, keys_.bounds()));
    for (std::int64_t m = 0; m < s_.memory; m += block)
      blocks::turn(k, m, std::min(block, s_.memory - m), s_.head, keys_transposed_ + m * s_.head, block);
    blocks::read(v, 0, s_.memory, s_.value_head, values_, value_);
  }
  /// Computes y for queries [first, first + count), which are at most a block. `log_sum`, of type T, gets the
  /// logarithm of the sum of their weights.
  [[gnu::flatten]] void run(attention_rows q, attention_rows y, attention_rows log_sum, std::int64_t first,
                            std::int64_t count) {
    blocks::read(q, first, count, s_.head, query_, head_, static_cast<T>(s_.scale));
    std::fill_n(accumulator_, count * value_, T(0));
    std::fill_n(greatest_, count, blocks::least_score);
    std::fill_n(total_, count, T(0));
    std::int64_t const end = keys_.visible_to(first + count - 1);
    for (std::int64_t m = 0; m < end; m += block) {
      std::int64_t const keys = std::min(block, s_.memory - m);
      small_product<T>(count, blocks::padded(keys), s_.head, {query_, head_}, {keys_transposed_ + m * s_.head, block},
                       {scores_, block}, false);
      weigh(first, count, m, keys);
      small_product<T>(count, value_, keys, {scores_, block}, {values_ + m * value_, value_}, {accumulator_, value_},
                       true);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      T const whole = total_[i] == T(0) ? T(1) : total_[i];
      T* const accumulated = accumulator_ + i * value_;
      blocks::scale_row(accumulated, value_, T(1) / whole);
      blocks::write(accumulated, s_.value_head, y, first + i);
      static_cast<T*>(log_sum.data)[(first + i) * log_sum.row] = greatest_[i] + math::log(whole);
    }
  }

 private:
  /// Turns the scores of queries against keys from m on into weights, and rescales the previous sums to the new
  /// maximum.
  void weigh(std::int64_t first, std::int64_t count, std::int64_t m, std::int64_t keys) {
    std::int64_t const wide = blocks::padded(keys);
    for (std::int64_t i = 0; i < count; ++i) {
      T* const score = scores_ + i * block;
      std::int64_t const visible = std::min(keys, keys_.visible_to(first + i) - m);
      vec<T> most(greatest_[i]);
      std::int64_t j = 0;
      if (s_.masked) keys_.bound(score, first + i, m, wide);
      for (; j + width <= visible; j += width) most = greater(most, load<T>(static_cast<T const*>(score + j)));
      for (; j < wide; j += width) {
        vec<T> const x = keys_.hidden(load<T>(static_cast<T const*>(score + j)), j, visible);
        store(x, score + j);
        most = greater(most, x);
      }
      next_greatest_[i] = greatest_of_lanes(most);
    }
    for (std::int64_t i = 0; i < count; i += width) {
      vec<T> const next = load<T>(static_cast<T const*>(next_greatest_ + i));
      store(math::exp_of_weight(load<T>(static_cast<T const*>(greatest_ + i)) - next), before_ + i);
      store(next, greatest_ + i);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      T* const score = scores_ + i * block;
      vec<T> const greatest(greatest_[i]);
      vec<T> sum(T(0));
      std::int64_t j = 0;
      for (; j + width <= keys; j += width) {
        vec<T> const x = math::exp_of_weight(load<T>(static_cast<T const*>(score + j)) - greatest);
        store(x, score + j);
        sum = sum + x;
      }
      if (j < keys) {  // the last register has lanes without a key
        vec<T> const x = math::exp_of_weight(load<T>(static_cast<T const*>(score + j)) - greatest);
        vec<T> const own = select(lane_numbers<T>(static_cast<T>(j)) < vec<T>(static_cast<T>(keys)), x, vec<T>(T(0)));
        store(own, score + j);
        sum = sum + own;
      }
      total_[i] = total_[i] * before_[i] + sum_of_lanes(sum);
      if (before_[i] != T(1)) blocks::scale_row(accumulator_ + i * value_, value_, before_[i]);
    }
  }

  attention_sizes s_;
  std::int64_t head_, value_, memory_;  // head_ and value_ padded to registers, memory_ to blocks
  visible_keys<T> keys_;
  T *keys_transposed_ = nullptr, *values_ = nullptr, *query_ = nullptr, *accumulator_ = nullptr;
  T *next_greatest_ = nullptr, *before_ = nullptr, *scores_ = nullptr, *greatest_ = nullptr, *total_ = nullptr;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

// SPDX-License-Identifier: Apache-2.0
// Computes the gradient of flash attention for one batch and head, in blocks on registers (Dao et al.,
// arXiv:2205.14135). It computes the scores again, and never stores all of them.
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

/// The gradients of queries, keys and values of a head, a block of keys at a time. T is the type of the computation,
/// and E is the type in memory.
template <class T, class E>
class attention_backward {
  using blocks = attention_blocks<T, E>;
  static constexpr std::int64_t block = blocks::block;
  static constexpr int width = blocks::width;

 public:
  explicit attention_backward(attention_sizes const& s)
      : s_(s),
        head_(blocks::padded(s.head)),
        value_(blocks::padded(s.value_head)),
        keys_(s, blocks::blocks_of(s.memory) * block) {}

  std::int64_t bytes() const {
    return blocks::bytes(s_.length * (2 * head_ + value_ + 2) + block * (2 * head_ + 2 * value_ + 2 * block) +
                         block * (s_.head + s_.value_head) + keys_.bounds());
  }

  /// Prepares the data that all keys of the head share: queries, cotangents, and y·dy for each query.
  [[gnu::flatten]] void prepare(attention_rows q, attention_rows y, attention_rows log_sum, attention_rows dy,
                                attention_rows visible, std::byte* workspace) {
    T* at = reinterpret_cast<T*>(workspace);
    query_ = blocks::take(at, s_.length * head_), cotangent_ = blocks::take(at, s_.length * value_);
    query_gradient_ = blocks::take(at, s_.length * head_);
    logarithm_ = blocks::take(at, s_.length), delta_ = blocks::take(at, s_.length);
    key_ = blocks::take(at, block * head_), key_gradient_ = blocks::take(at, block * head_),
    value_slope_ = blocks::take(at, block * value_);
    T* const result = blocks::take(at, value_);
    keys_transposed_ = blocks::take(at, s_.head * block), values_transposed_ = blocks::take(at, s_.value_head * block);
    scores_ = blocks::take(at, block * block), score_gradients_ = blocks::take(at, block * block);
    keys_.set_bounds(visible, blocks::take(at, keys_.bounds()));
    blocks::read(q, 0, s_.length, s_.head, query_, head_, static_cast<T>(s_.scale));
    blocks::read(dy, 0, s_.length, s_.value_head, cotangent_, value_);
    for (std::int64_t i = 0; i < s_.length; ++i) {
      blocks::read(y, i, 1, s_.value_head, result, value_);
      vec<T> sum(T(0));
      for (std::int64_t j = 0; j < value_; j += width)
        sum = fma(load<T>(static_cast<T const*>(result + j)),
                  load<T>(static_cast<T const*>(cotangent_ + i * value_ + j)), sum);
      delta_[i] = sum_of_lanes(sum), logarithm_[i] = static_cast<T const*>(log_sum.data)[i * log_sum.row];
    }
    std::fill_n(query_gradient_, s_.length * head_, T(0));
  }
  /// Processes keys [first, first + count), which are at most a block, with queries [from, to). It adds to the
  /// gradients of these queries, and writes the gradients of the keys if they are wanted.
  [[gnu::flatten]] void run(attention_rows k, attention_rows v, attention_rows const* dk, attention_rows const* dv,
                            std::int64_t first, std::int64_t count, std::int64_t from, std::int64_t to,
                            bool query_gradient) {
    blocks::read(k, first, count, s_.head, key_, head_);
    blocks::turn(k, first, count, s_.head, keys_transposed_, block);
    blocks::turn(v, first, count, s_.value_head, values_transposed_, block);
    bool const keys = dk != nullptr;
    std::fill_n(key_gradient_, block * head_, T(0));
    std::fill_n(value_slope_, block * value_, T(0));
    std::int64_t const wide = blocks::padded(count);
    for (std::int64_t i = from / block * block; i < to; i += block) {
      std::int64_t const rows = std::min(block, to - i);
      if (keys_.visible_to(i + rows - 1) <= first) continue;
      T const *const q = query_ + i * head_, *const dy = cotangent_ + i * value_;
      small_product<T>(rows, wide, s_.head, {q, head_}, {keys_transposed_, block}, {scores_, block}, false);
      small_product<T>(rows, wide, s_.value_head, {dy, value_}, {values_transposed_, block}, {score_gradients_, block},
                       false);
      for (std::int64_t r = 0; r < rows; ++r) score_gradient(r, i + r, first, count);
      if (keys) {
        small_product<T>(count, value_, rows, {scores_, 1, block}, {dy, value_}, {value_slope_, value_}, true);
        small_product<T>(count, head_, rows, {score_gradients_, 1, block}, {q, head_}, {key_gradient_, head_}, true);
      }
      if (query_gradient)
        small_product<T>(rows, head_, count, {score_gradients_, block}, {key_, head_},
                         {query_gradient_ + i * head_, head_}, true);
    }
    if (!keys) return;
    for (std::int64_t i = 0; i < count; ++i) {
      blocks::write(key_gradient_ + i * head_, s_.head, *dk, first + i);
      blocks::write(value_slope_ + i * value_, s_.value_head, *dv, first + i);
    }
  }
  [[gnu::flatten]] void store_query_gradients(attention_rows dq, std::int64_t from, std::int64_t to) const {
    for (std::int64_t i = from; i < to; ++i) {
      blocks::scale_row(query_gradient_ + i * head_, head_, static_cast<T>(s_.scale));
      blocks::write(query_gradient_ + i * head_, s_.head, dq, i);
    }
  }

 private:
  /// For one query, turns scores into weights, and the gradients of weights into gradients of scores.
  void score_gradient(std::int64_t r, std::int64_t row, std::int64_t first, std::int64_t keys) {
    T *const score = scores_ + r * block, *const change = score_gradients_ + r * block;
    vec<T> const logarithm(logarithm_[row]), delta(delta_[row]);
    std::int64_t const visible = std::min(keys, keys_.visible_to(row) - first);
    if (s_.masked) keys_.bound(score, row, first, blocks::padded(keys));
    for (std::int64_t j = 0; j < blocks::padded(keys); j += width) {
      vec<T> const x = keys_.hidden(load<T>(static_cast<T const*>(score + j)), j, visible);
      vec<T> weight = math::exp_of_weight(x - logarithm);
      if (s_.masked || j + width > visible)  // even if the query has NaN
        weight = select(x == vec<T>(visible_keys<T>::hidden_score), vec<T>(T(0)), weight);
      store(weight, score + j);
      store(weight * (load<T>(static_cast<T const*>(change + j)) - delta), change + j);
    }
  }

  attention_sizes s_;
  std::int64_t head_, value_;  // padded to registers
  visible_keys<T> keys_;
  T *keys_transposed_ = nullptr, *values_transposed_ = nullptr, *query_ = nullptr, *cotangent_ = nullptr;
  T *scores_ = nullptr, *score_gradients_ = nullptr, *logarithm_ = nullptr, *delta_ = nullptr;
  T *query_gradient_ = nullptr, *key_ = nullptr, *key_gradient_ = nullptr, *value_slope_ = nullptr;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

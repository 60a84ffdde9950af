// SPDX-License-Identifier: Apache-2.0
// Computes flash attention for one batch and head, in blocks on registers (Dao et al., arXiv:2205.14135). It never
// stores all scores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "meshtensor/device/cpu/fused/across_lanes.hpp"
#include "meshtensor/device/cpu/math.hpp"
#include "meshtensor/device/cpu/matmul/small_product.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// The sizes and options of one batch and head.
struct attention_sizes {
  std::int64_t length, memory;    // numbers of queries and of keys
  std::int64_t head, value_head;  // elements of a query or key, and of a value
  std::int64_t ahead;             // position of the first query minus position of the first key
  bool causal;                    // no query sees a later key
  bool masked;                    // a mask hides some of the keys
  bool each;                      // every query has its own mask
  double scale;                   // factor of the scores
};

/// Strided rows in memory, of any element type.
struct attention_rows {
  void* data;
  std::int64_t row, column;  // strides in elements
};

/// Computes attention in blocks of a head. It copies them to the workspace, padded with zeros to whole registers. T is
/// the type of the computation, and E is the type in memory.
template <class T, class E>
class attention_blocks {
 public:
  static constexpr std::int64_t block = 96;                          // queries of a block, and keys of a block
  static constexpr T least_score = static_cast<T>(least_finite<E>);  // the maximum if there are no scores

  explicit attention_blocks(attention_sizes const& s)
      : s_(s), head_(padded(s.head)), value_(padded(s.value_head)), memory_(blocks_of(s.memory) * block) {}

  static std::int64_t blocks_of(std::int64_t n) { return (n + block - 1) / block; }

  std::int64_t forward_bytes() const {
    return bytes(s_.head * memory_ + s_.memory * value_ + block * (head_ + value_ + block + 4) + bounds());
  }
  std::int64_t backward_bytes() const {
    return bytes(s_.length * (2 * head_ + value_ + 2) + block * (2 * head_ + 2 * value_ + 2 * block) +
                 block * (s_.head + s_.value_head) + bounds());
  }

  /// Prepares the data that all queries of the head share: transposed keys, values, and the mask if there is one.
  [[gnu::flatten]] void prepare_forward(attention_rows k, attention_rows v, attention_rows visible,
                                        std::byte* workspace) {
    T* at = reinterpret_cast<T*>(workspace);
    keys_transposed_ = take(at, s_.head * memory_), values_ = take(at, s_.memory * value_);
    query_ = take(at, block * head_), accumulator_ = take(at, block * value_), scores_ = take(at, block * block);
    greatest_ = take(at, block), total_ = take(at, block);
    next_greatest_ = take(at, block), before_ = take(at, block);
    bounds_ = take(at, bounds());
    set_bounds(visible);
    for (std::int64_t m = 0; m < s_.memory; m += block)
      turn(k, m, std::min(block, s_.memory - m), s_.head, keys_transposed_ + m * s_.head, block);
    read(v, 0, s_.memory, s_.value_head, values_, value_);
  }
  /// Computes y for queries [first, first + count), which are at most a block. `log_sum` gets the logarithm of the sum
  /// of their weights.
  [[gnu::flatten]] void forward(attention_rows q, attention_rows y, attention_rows log_sum, std::int64_t first,
                                std::int64_t count) {
    read(q, first, count, s_.head, query_, head_, static_cast<T>(s_.scale));
    std::fill_n(accumulator_, count * value_, T(0));
    std::fill_n(greatest_, count, least_score);
    std::fill_n(total_, count, T(0));
    std::int64_t const end = visible_to(first + count - 1);
    for (std::int64_t m = 0; m < end; m += block) {
      std::int64_t const keys = std::min(block, s_.memory - m);
      small_product<T>(count, padded(keys), s_.head, {query_, head_}, {keys_transposed_ + m * s_.head, block},
                       {scores_, block}, false);
      weigh(first, count, m, keys);
      small_product<T>(count, value_, keys, {scores_, block}, {values_ + m * value_, value_}, {accumulator_, value_},
                       true);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      T const whole = total_[i] == T(0) ? T(1) : total_[i];
      T* const accumulated = accumulator_ + i * value_;
      scale_row(accumulated, value_, T(1) / whole);
      write(accumulated, s_.value_head, y, first + i);
      T const logarithm = greatest_[i] + math::log(whole);
      write(&logarithm, 1, log_sum, first + i);
    }
  }

  /// Prepares the data that all keys of the head share: queries, cotangents, and y·dy for each query.
  [[gnu::flatten]] void prepare_backward(attention_rows q, attention_rows y, attention_rows log_sum, attention_rows dy,
                                         attention_rows visible, std::byte* workspace) {
    T* at = reinterpret_cast<T*>(workspace);
    query_ = take(at, s_.length * head_), cotangent_ = take(at, s_.length * value_);
    query_gradient_ = take(at, s_.length * head_);
    logarithm_ = take(at, s_.length), delta_ = take(at, s_.length);
    key_ = take(at, block * head_), key_gradient_ = take(at, block * head_), value_slope_ = take(at, block * value_);
    T* const result = take(at, value_);
    keys_transposed_ = take(at, s_.head * block), values_transposed_ = take(at, s_.value_head * block);
    scores_ = take(at, block * block), score_gradients_ = take(at, block * block);
    bounds_ = take(at, bounds());
    set_bounds(visible);
    read(q, 0, s_.length, s_.head, query_, head_, static_cast<T>(s_.scale));
    read(dy, 0, s_.length, s_.value_head, cotangent_, value_);
    for (std::int64_t i = 0; i < s_.length; ++i) {
      read(y, i, 1, s_.value_head, result, value_);
      vec<T> sum(T(0));
      for (std::int64_t j = 0; j < value_; j += width)
        sum = fma(load<T>(static_cast<T const*>(result + j)),
                  load<T>(static_cast<T const*>(cotangent_ + i * value_ + j)), sum);
      delta_[i] = sum_of_lanes(sum), logarithm_[i] = get(log_sum, i, 0);
    }
    std::fill_n(query_gradient_, s_.length * head_, T(0));
  }
  /// Processes keys [first, first + count), which are at most a block, with queries [from, to). It adds to the
  /// gradients of these queries, and writes the gradients of the keys if they are wanted.
  [[gnu::flatten]] void backward(attention_rows k, attention_rows v, attention_rows const* dk, attention_rows const* dv,
                                 std::int64_t first, std::int64_t count, std::int64_t from, std::int64_t to,
                                 bool query_gradient) {
    read(k, first, count, s_.head, key_, head_);
    turn(k, first, count, s_.head, keys_transposed_, block);
    turn(v, first, count, s_.value_head, values_transposed_, block);
    bool const keys = dk != nullptr;
    std::fill_n(key_gradient_, block * head_, T(0));
    std::fill_n(value_slope_, block * value_, T(0));
    std::int64_t const wide = padded(count);
    for (std::int64_t i = from / block * block; i < to; i += block) {
      std::int64_t const rows = std::min(block, to - i);
      if (visible_to(i + rows - 1) <= first) continue;
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
      write(key_gradient_ + i * head_, s_.head, *dk, first + i);
      write(value_slope_ + i * value_, s_.value_head, *dv, first + i);
    }
  }
  [[gnu::flatten]] void store_query_gradients(attention_rows dq, std::int64_t from, std::int64_t to) const {
    for (std::int64_t i = from; i < to; ++i) {
      scale_row(query_gradient_ + i * head_, head_, static_cast<T>(s_.scale));
      write(query_gradient_ + i * head_, s_.head, dq, i);
    }
  }

 private:
  static constexpr int width = vec<T>::width;
  static std::int64_t padded(std::int64_t n) { return (n + width - 1) / width * width; }
  static T* take(T*& at, std::int64_t count) {
    T* const here = at;
    at += (count + 15) / 16 * 16;
    return here;
  }
  static std::int64_t bytes(std::int64_t elements) {
    return (elements + 16 * 16) * static_cast<std::int64_t>(sizeof(T));
  }

  /// The number of keys that the query at `row` sees.
  std::int64_t visible_to(std::int64_t row) const {
    return s_.causal ? std::min(s_.memory, s_.ahead + row + 1) : s_.memory;
  }

  /// A hidden score has weight 0 for any maximum, even if a query sees no key, because the maximum starts at the lowest
  /// finite value of E.
  static constexpr T hidden_score = -std::numeric_limits<T>::infinity();
  /// The number of bounds. A score is limited to its key's bound, which is a hidden score if the key is not visible.
  std::int64_t bounds() const { return s_.masked ? memory_ : 0; }
  void set_bounds(attention_rows visible) {
    visible_ = visible;
    if (!s_.each) set_bounds(0, 0, bounds());
  }
  void set_bounds(std::int64_t query, std::int64_t first, std::int64_t count) {
    bool const* const visible = static_cast<bool const*>(visible_.data) + query * visible_.column;
    for (std::int64_t j = first; j < first + count; ++j)
      bounds_[j] = j < s_.memory && visible[j * visible_.row] ? std::numeric_limits<T>::infinity() : hidden_score;
  }

  static T get(attention_rows x, std::int64_t i, std::int64_t j) {
    return detail::number_of_element<T>(static_cast<E const*>(x.data)[i * x.row + j * x.column]);
  }
  static void write(T const* from, std::int64_t elements, attention_rows x, std::int64_t i) {
    E* const row = static_cast<E*>(x.data) + i * x.row;
    std::int64_t j = 0;
    if (x.column == 1)
      for (; j + width <= elements; j += width) store(load<T>(from + j), row + j);
    for (; j < elements; ++j) row[j * x.column] = detail::element_of<E>(from[j]);
  }
  static void read(attention_rows x, std::int64_t first, std::int64_t count, std::int64_t elements, T* to,
                   std::int64_t stride, T scale = 1) {
    for (std::int64_t i = 0; i < count; ++i) {
      E const* const from = static_cast<E const*>(x.data) + (first + i) * x.row;
      T* const row = to + i * stride;
      std::int64_t j = 0;
      if (x.column == 1)
        for (; j + width <= elements; j += width) store(load<T>(from + j) * vec<T>(scale), row + j);
      for (; j < elements; ++j) row[j] = detail::number_of_element<T>(from[j * x.column]) * scale;
      std::fill(row + elements, row + stride, T(0));
    }
  }
  /// Transposes x, so that to[j · stride + i] = x[first + i][j], with zeros up to a whole register.
  static void turn(attention_rows x, std::int64_t first, std::int64_t count, std::int64_t elements, T* to,
                   std::int64_t stride) {
    std::int64_t const filled = std::min(stride, padded(count));
    E const* const from = static_cast<E const*>(x.data) + first * x.row;
    for (std::int64_t i = 0; i < count; i += transpose_tile)
      for (std::int64_t j = 0; j < elements; j += transpose_tile) {
        if constexpr (std::is_same_v<T, float> && std::is_same_v<E, float>)
          if (x.column == 1 && i + transpose_tile <= count && j + transpose_tile <= elements) {
            turn_square(from + i * x.row + j, x.row, to + j * stride + i, stride);
            continue;
          }
        for (std::int64_t b = j; b < std::min(elements, j + transpose_tile); ++b)
          for (std::int64_t a = i; a < std::min(count, i + transpose_tile); ++a)
            to[b * stride + a] = get(x, first + a, b);
      }
    for (std::int64_t j = 0; j < elements; ++j) std::fill(to + j * stride + count, to + j * stride + filled, T(0));
  }

  /// Turns the scores of queries against keys from m on into weights, and rescales the previous sums to the new
  /// maximum.
  void weigh(std::int64_t first, std::int64_t count, std::int64_t m, std::int64_t keys) {
    std::int64_t const wide = padded(keys);
    for (std::int64_t i = 0; i < count; ++i) {
      T* const score = scores_ + i * block;
      std::int64_t const visible = std::min(keys, visible_to(first + i) - m);
      vec<T> most(greatest_[i]);
      std::int64_t j = 0;
      if (s_.masked) bound(score, first + i, m, wide);
      for (; j + width <= visible; j += width) most = greater(most, load<T>(static_cast<T const*>(score + j)));
      for (; j < wide; j += width) {
        vec<T> const x = hidden(load<T>(static_cast<T const*>(score + j)), j, visible);
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
      if (before_[i] != T(1)) scale_row(accumulator_ + i * value_, value_, before_[i]);
    }
  }
  static void scale_row(T* row, std::int64_t elements, T by) {
    for (std::int64_t j = 0; j < elements; j += width)
      store(load<T>(static_cast<T const*>(row + j)) * vec<T>(by), row + j);
  }
  /// For one query, turns scores into weights, and the gradients of weights into gradients of scores.
  void score_gradient(std::int64_t r, std::int64_t row, std::int64_t first, std::int64_t keys) {
    T *const score = scores_ + r * block, *const change = score_gradients_ + r * block;
    vec<T> const logarithm(logarithm_[row]), delta(delta_[row]);
    std::int64_t const visible = std::min(keys, visible_to(row) - first);
    if (s_.masked) bound(score, row, first, padded(keys));
    for (std::int64_t j = 0; j < padded(keys); j += width) {
      vec<T> const x = hidden(load<T>(static_cast<T const*>(score + j)), j, visible);
      vec<T> weight = math::exp_of_weight(x - logarithm);
      if (s_.masked || j + width > visible)  // even if the query has NaN
        weight = select(x == vec<T>(hidden_score), vec<T>(T(0)), weight);
      store(weight, score + j);
      store(weight * (load<T>(static_cast<T const*>(change + j)) - delta), change + j);
    }
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

  attention_sizes s_;
  attention_rows visible_{};
  std::int64_t head_, value_, memory_;  // head_ and value_ padded to registers, memory_ to blocks
  T *keys_transposed_ = nullptr, *values_ = nullptr, *values_transposed_ = nullptr, *query_ = nullptr,
    *accumulator_ = nullptr;
  T *next_greatest_ = nullptr, *before_ = nullptr, *scores_ = nullptr, *score_gradients_ = nullptr,
    *greatest_ = nullptr, *total_ = nullptr, *cotangent_ = nullptr, *bounds_ = nullptr;
  T *query_gradient_ = nullptr, *logarithm_ = nullptr, *delta_ = nullptr, *key_ = nullptr, *key_gradient_ = nullptr;
  T* value_slope_ = nullptr;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

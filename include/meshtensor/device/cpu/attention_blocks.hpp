// SPDX-License-Identifier: Apache-2.0
// Attention of one batch and head by blocks, never holding all scores: Dao et al., arXiv:2205.14135, on registers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "meshtensor/device/cpu/across_lanes.hpp"
#include "meshtensor/device/cpu/math.hpp"
#include "meshtensor/device/cpu/small_product.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// The sizes of one batch and head, and what it is about.
struct attention_sizes {
  std::int64_t length, memory;    // questions, answers
  std::int64_t head, value_head;  // elements of a question or a key; of a value
  std::int64_t ahead;             // by how much the first question's position is beyond the first answer's
  bool causal;                    // no question sees later answers
  bool masked;                    // no question sees some of the answers
  bool each;                      // what is masked differs by question
  double scale;                   // of the scores
};

/// Rows in memory, of elements of any type.
struct attention_rows {
  void* data;
  std::int64_t row, column;  // strides in elements
};

/// The blocks of a head in memory of one's own: padded with zeros to whole registers, of the type T in which is
/// computed. E is the type in memory.
template <class T, class E>
class attention_blocks {
 public:
  static constexpr std::int64_t block = 96;  // questions, and answers, at a time

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

  /// What every question of the head needs: keys turned, values, and which answers are seen, if some are not.
  [[gnu::flatten]] void prepare_forward(attention_rows k, attention_rows v, attention_rows seen, std::byte* workspace) {
    T* at = reinterpret_cast<T*>(workspace);
    keys_turned_ = take(at, s_.head * memory_), values_ = take(at, s_.memory * value_);
    question_ = take(at, block * head_), mixed_ = take(at, block * value_), scores_ = take(at, block * block);
    greatest_ = take(at, block), total_ = take(at, block);
    next_greatest_ = take(at, block), before_ = take(at, block);
    bounds_ = take(at, bounds());
    set_bounds(seen);
    for (std::int64_t m = 0; m < s_.memory; m += block)
      turn(k, m, std::min(block, s_.memory - m), s_.head, keys_turned_ + m * s_.head, block);
    read(v, 0, s_.memory, s_.value_head, values_, value_);
  }
  /// Questions [first, first + count), at most a block of them: y, and the logarithm of the sum of their weights.
  [[gnu::flatten]] void forward(attention_rows q, attention_rows y, attention_rows log_sum, std::int64_t first,
                                std::int64_t count) {
    read(q, first, count, s_.head, question_, head_, static_cast<T>(s_.scale));
    std::fill_n(mixed_, count * value_, T(0));
    std::fill_n(greatest_, count, least_score);
    std::fill_n(total_, count, T(0));
    std::int64_t const end = seen_by(first + count - 1);
    for (std::int64_t m = 0; m < end; m += block) {
      std::int64_t const answers = std::min(block, s_.memory - m);
      small_product<T>(count, padded(answers), s_.head, {question_, head_}, {keys_turned_ + m * s_.head, block},
                       {scores_, block}, false);
      weigh(first, count, m, answers);
      small_product<T>(count, value_, answers, {scores_, block}, {values_ + m * value_, value_}, {mixed_, value_},
                       true);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      T const whole = total_[i] == T(0) ? T(1) : total_[i];
      T* const mixed = mixed_ + i * value_;
      scale_row(mixed, value_, T(1) / whole);
      write(mixed, s_.value_head, y, first + i);
      T const logarithm = greatest_[i] + math::log(whole);
      write(&logarithm, 1, log_sum, first + i);
    }
  }

  /// What all answers of the head need: questions, cotangents, and for each question its y·dy.
  [[gnu::flatten]] void prepare_backward(attention_rows q, attention_rows y, attention_rows log_sum, attention_rows dy,
                                         attention_rows seen, std::byte* workspace) {
    T* at = reinterpret_cast<T*>(workspace);
    question_ = take(at, s_.length * head_), cotangent_ = take(at, s_.length * value_);
    question_slope_ = take(at, s_.length * head_);
    logarithm_ = take(at, s_.length), straight_ = take(at, s_.length);
    key_ = take(at, block * head_), key_slope_ = take(at, block * head_), value_slope_ = take(at, block * value_);
    T* const result = take(at, value_);
    keys_turned_ = take(at, s_.head * block), values_turned_ = take(at, s_.value_head * block);
    scores_ = take(at, block * block), slopes_ = take(at, block * block);
    bounds_ = take(at, bounds());
    set_bounds(seen);
    read(q, 0, s_.length, s_.head, question_, head_, static_cast<T>(s_.scale));
    read(dy, 0, s_.length, s_.value_head, cotangent_, value_);
    for (std::int64_t i = 0; i < s_.length; ++i) {
      read(y, i, 1, s_.value_head, result, value_);
      vec<T> sum(T(0));
      for (std::int64_t j = 0; j < value_; j += width)
        sum = fma(load<T>(static_cast<T const*>(result + j)),
                  load<T>(static_cast<T const*>(cotangent_ + i * value_ + j)), sum);
      straight_[i] = sum_of_lanes(sum), logarithm_[i] = get(log_sum, i, 0);
    }
    std::fill_n(question_slope_, s_.length * head_, T(0));
  }
  /// Answers [first, first + count), at most a block of them, asked by questions [from, to): adds to the slopes of
  /// these questions, and of the answers gives theirs, where wanted.
  [[gnu::flatten]] void backward(attention_rows k, attention_rows v, attention_rows const* dk, attention_rows const* dv,
                                 std::int64_t first, std::int64_t count, std::int64_t from, std::int64_t to,
                                 bool question_slopes) {
    read(k, first, count, s_.head, key_, head_);
    turn(k, first, count, s_.head, keys_turned_, block);
    turn(v, first, count, s_.value_head, values_turned_, block);
    bool const answers = dk != nullptr;
    std::fill_n(key_slope_, block * head_, T(0));
    std::fill_n(value_slope_, block * value_, T(0));
    std::int64_t const wide = padded(count);
    for (std::int64_t i = from / block * block; i < to; i += block) {
      std::int64_t const rows = std::min(block, to - i);
      if (seen_by(i + rows - 1) <= first) continue;
      T const *const q = question_ + i * head_, *const dy = cotangent_ + i * value_;
      small_product<T>(rows, wide, s_.head, {q, head_}, {keys_turned_, block}, {scores_, block}, false);
      small_product<T>(rows, wide, s_.value_head, {dy, value_}, {values_turned_, block}, {slopes_, block}, false);
      for (std::int64_t r = 0; r < rows; ++r) slope(r, i + r, first, count);
      if (answers) {
        small_product<T>(count, value_, rows, {scores_, 1, block}, {dy, value_}, {value_slope_, value_}, true);
        small_product<T>(count, head_, rows, {slopes_, 1, block}, {q, head_}, {key_slope_, head_}, true);
      }
      if (question_slopes)
        small_product<T>(rows, head_, count, {slopes_, block}, {key_, head_}, {question_slope_ + i * head_, head_},
                         true);
    }
    if (!answers) return;
    for (std::int64_t i = 0; i < count; ++i) {
      write(key_slope_ + i * head_, s_.head, *dk, first + i);
      write(value_slope_ + i * value_, s_.value_head, *dv, first + i);
    }
  }
  [[gnu::flatten]] void store_question_slopes(attention_rows dq, std::int64_t from, std::int64_t to) const {
    for (std::int64_t i = from; i < to; ++i) {
      scale_row(question_slope_ + i * head_, head_, static_cast<T>(s_.scale));
      write(question_slope_ + i * head_, s_.head, dq, i);
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

  /// How many answers the question at `row` sees.
  std::int64_t seen_by(std::int64_t row) const {
    return s_.causal ? std::min(s_.memory, s_.ahead + row + 1) : s_.memory;
  }

  /// The weight of a score that nobody may see is 0 beside any greatest one, which is no less than the least that an
  /// element can be: so it is where a question sees nothing.
  static constexpr T hidden_score = -std::numeric_limits<T>::infinity();
  static constexpr T least_score = static_cast<T>(least_finite<E>);
  /// No score is above its answer's bound, which is a hidden score where the answer is not seen.
  std::int64_t bounds() const { return s_.masked ? memory_ : 0; }
  void set_bounds(attention_rows seen) {
    seen_ = seen;
    if (!s_.each) set_bounds(0, 0, bounds());
  }
  void set_bounds(std::int64_t question, std::int64_t first, std::int64_t count) {
    bool const* const seen = static_cast<bool const*>(seen_.data) + question * seen_.column;
    for (std::int64_t j = first; j < first + count; ++j)
      bounds_[j] = j < s_.memory && seen[j * seen_.row] ? std::numeric_limits<T>::infinity() : hidden_score;
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
  /// to[j · stride + i] = x[first + i][j], zeros up to a whole register.
  static void turn(attention_rows x, std::int64_t first, std::int64_t count, std::int64_t elements, T* to,
                   std::int64_t stride) {
    std::int64_t const filled = std::min(stride, padded(count));
    E const* const from = static_cast<E const*>(x.data) + first * x.row;
    for (std::int64_t i = 0; i < count; i += turned)
      for (std::int64_t j = 0; j < elements; j += turned) {
        if constexpr (std::is_same_v<T, float> && std::is_same_v<E, float>)
          if (x.column == 1 && i + turned <= count && j + turned <= elements) {
            turn_square(from + i * x.row + j, x.row, to + j * stride + i, stride);
            continue;
          }
        for (std::int64_t b = j; b < std::min(elements, j + turned); ++b)
          for (std::int64_t a = i; a < std::min(count, i + turned); ++a) to[b * stride + a] = get(x, first + a, b);
      }
    for (std::int64_t j = 0; j < elements; ++j) std::fill(to + j * stride + count, to + j * stride + filled, T(0));
  }

  /// Scores of questions against answers from m on become weights; what was mixed before is scaled to them.
  void weigh(std::int64_t first, std::int64_t count, std::int64_t m, std::int64_t answers) {
    std::int64_t const wide = padded(answers);
    for (std::int64_t i = 0; i < count; ++i) {
      T* const score = scores_ + i * block;
      std::int64_t const seen = std::min(answers, seen_by(first + i) - m);
      vec<T> most(greatest_[i]);
      std::int64_t j = 0;
      if (s_.masked) bound(score, first + i, m, wide);
      for (; j + width <= seen; j += width) most = greater(most, load<T>(static_cast<T const*>(score + j)));
      for (; j < wide; j += width) {
        vec<T> const x = hidden(load<T>(static_cast<T const*>(score + j)), j, seen);
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
      for (; j + width <= answers; j += width) {
        vec<T> const x = math::exp_of_weight(load<T>(static_cast<T const*>(score + j)) - greatest);
        store(x, score + j);
        sum = sum + x;
      }
      if (j < answers) {  // the last register has lanes of no answer
        vec<T> const x = math::exp_of_weight(load<T>(static_cast<T const*>(score + j)) - greatest);
        vec<T> const own =
            select(lane_numbers<T>(static_cast<T>(j)) < vec<T>(static_cast<T>(answers)), x, vec<T>(T(0)));
        store(own, score + j);
        sum = sum + own;
      }
      total_[i] = total_[i] * before_[i] + sum_of_lanes(sum);
      if (before_[i] != T(1)) scale_row(mixed_ + i * value_, value_, before_[i]);
    }
  }
  static void scale_row(T* row, std::int64_t elements, T by) {
    for (std::int64_t j = 0; j < elements; j += width)
      store(load<T>(static_cast<T const*>(row + j)) * vec<T>(by), row + j);
  }
  /// One row: scores become weights, and the slopes of weights those of scores.
  void slope(std::int64_t r, std::int64_t row, std::int64_t first, std::int64_t answers) {
    T *const score = scores_ + r * block, *const change = slopes_ + r * block;
    vec<T> const logarithm(logarithm_[row]), straight(straight_[row]);
    std::int64_t const seen = std::min(answers, seen_by(row) - first);
    if (s_.masked) bound(score, row, first, padded(answers));
    for (std::int64_t j = 0; j < padded(answers); j += width) {
      vec<T> const x = hidden(load<T>(static_cast<T const*>(score + j)), j, seen);
      vec<T> weight = math::exp_of_weight(x - logarithm);
      if (s_.masked || j + width > seen)  // of a question that is nan, too
        weight = select(x == vec<T>(hidden_score), vec<T>(T(0)), weight);
      store(weight, score + j);
      store(weight * (load<T>(static_cast<T const*>(change + j)) - straight), change + j);
    }
  }
  /// Hides the scores of a question, against answers from m on, of those that it does not see, nan too.
  void bound(T* score, std::int64_t question, std::int64_t m, std::int64_t count) {
    if (s_.each) set_bounds(question, m, count);
    for (std::int64_t j = 0; j < count; j += width) {
      vec<T> const limit = load<T>(static_cast<T const*>(bounds_ + m + j));
      store(select(vec<T>(hidden_score) < limit, load<T>(static_cast<T const*>(score + j)), limit), score + j);
    }
  }
  /// Hides what is later than a question sees, and where there is no answer.
  static vec<T> hidden(vec<T> x, std::int64_t j, std::int64_t seen) {
    if (j + width <= seen) return x;
    return select(lane_numbers<T>(static_cast<T>(j)) < vec<T>(static_cast<T>(seen)), x, vec<T>(hidden_score));
  }

  attention_sizes s_;
  attention_rows seen_{};
  std::int64_t head_, value_, memory_;  // padded: to registers, to blocks
  T *keys_turned_ = nullptr, *values_ = nullptr, *values_turned_ = nullptr, *question_ = nullptr, *mixed_ = nullptr;
  T *next_greatest_ = nullptr, *before_ = nullptr, *scores_ = nullptr, *slopes_ = nullptr, *greatest_ = nullptr,
    *total_ = nullptr, *cotangent_ = nullptr, *bounds_ = nullptr;
  T *question_slope_ = nullptr, *logarithm_ = nullptr, *straight_ = nullptr, *key_ = nullptr, *key_slope_ = nullptr;
  T* value_slope_ = nullptr;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

// SPDX-License-Identifier: Apache-2.0
// Computes the random numbers of base/philox.hpp a register at a time. Each lane has the bits of its global index.
#pragma once

#include <cstring>
#include <type_traits>

#include "meshtensor/base/philox.hpp"
#include "meshtensor/device/cpu/load.hpp"
#include "meshtensor/device/cpu/math.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

namespace detail {

/// The low and high halves of the product of each word with a constant. A word is a 32-bit lane, or the low half of a
/// 64-bit lane.
template <class Word>
struct product_of_words {
  vec<Word> low, high;

  product_of_words(vec<Word> x, std::uint32_t constant) {
    using wide = vec<std::uint64_t>;
    wide const c(constant), low_half(0xffffffffu);
    if constexpr (sizeof(Word) == 8) {
      wide const product = multiply_low_halves(x, c);
      low = product & low_half, high = product >> 32;
    } else if constexpr (vec<Word>::width == 1) {
      std::uint64_t const product = std::uint64_t{x.lane_array().at[0]} * constant;
      low = vec<Word>(static_cast<Word>(product)), high = vec<Word>(static_cast<Word>(product >> 32));
    } else {
      wide const even = multiply_low_halves(bits_as_wide(x), c), odd = multiply_low_halves(bits_as_wide(x) >> 32, c);
      low = bits_as_narrow((even & low_half) | (odd << 32));
      high = bits_as_narrow((even >> 32) | (odd & ~low_half));
    }
  }

 private:
  static vec<std::uint64_t> bits_as_wide(vec<Word> x) {
    return vec<std::uint64_t>::of(std::bit_cast<lanes<std::uint64_t>>(x.value));
  }
  static vec<Word> bits_as_narrow(vec<std::uint64_t> x) { return vec<Word>::of(std::bit_cast<lanes<Word>>(x.value)); }
};

/// The four words of several counters, one in each lane.
template <class T>
struct random_lanes {
  using bits = math::bits_of<vec<T>>;
  using word = typename bits::scalar;
  bits words[4];

  /// The counters are first, first + stride, ….
  random_lanes(random_stream const& stream, std::uint64_t first, std::uint64_t stride, bool second = false)
      : random_lanes(stream, [=](int i) { return first + static_cast<std::uint64_t>(i) * stride; }, second) {}
  template <class Numbers>
  requires std::is_invocable_v<Numbers, int>
  random_lanes(random_stream const& stream, Numbers const& number, bool second) {
    typename bits::array low, high;
    for (int i = 0; i < bits::width; ++i) {
      low.at[i] = static_cast<std::uint32_t>(number(i));
      high.at[i] = static_cast<std::uint32_t>(number(i) >> 32);
    }
    bits c0 = bits::of(low), c1 = bits::of(high);
    bits c2(static_cast<std::uint32_t>(stream.iteration));
    bits c3(static_cast<std::uint32_t>(stream.iteration >> 32) ^ (second ? 0x80000000u : 0u));
    auto [k0, k1] = stream.key;
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
      product_of_words<word> const p0(c0, 0xD2511F53u), p1(c2, 0xCD9E8D57u);
      c0 = p1.high ^ c1 ^ bits(k0), c1 = p1.low;
      c2 = p0.high ^ c3 ^ bits(k1), c3 = p0.low;
    }
    words[0] = c0, words[1] = c1, words[2] = c2, words[3] = c3;
  }
};

/// Has `random_stream::word` of elements, registers at a time. For contiguous elements, it computes four registers at
/// once and caches them until other elements are read.
class neighbouring_words {
  using narrow = vec<std::uint32_t>;
  using array = typename narrow::array;
  static constexpr int width = narrow::width;

 public:
  /// Returns `count` words, at most a register, of the elements first, first + stride, …. They are valid until the next
  /// call.
  [[gnu::always_inline]] std::uint32_t const* read(random_stream const& stream, std::uint64_t first,
                                                   std::uint64_t stride, bool second, std::uint64_t count) {
    std::uint64_t const offset = first - begin_;
    if (stride == 1 && offset < made_ && offset + count <= made_) return words_ + offset;
    return make(stream, first, stride, second, count);
  }

 private:
  static constexpr std::uint64_t kept = width < 4 ? 16 : 4 * width;

  [[gnu::noinline]] std::uint32_t const* make(random_stream const& stream, std::uint64_t first, std::uint64_t stride,
                                              bool second, std::uint64_t count) {
    auto const element = [=](std::uint64_t i) { return first + i * stride; };
    if constexpr (width < 4) {
      for (std::uint64_t i = 0; i < count; ++i) others_[i] = stream.word(element(i), second);
    } else if (stride == 1) {
      if (first % kept + count <= kept) {
        make_group(stream, first / kept, second);
        return words_ + first % kept;
      }
      for (std::uint64_t i = 0; i < count; ++i) {
        if (element(i) - begin_ >= made_) make_group(stream, element(i) / kept, second);
        others_[i] = words_[element(i) - begin_];
      }
    } else {
      random_lanes<float> const numbers(
          stream,
          [=](int i) {
            std::uint64_t const e = element(static_cast<std::uint64_t>(i));
            return e / 16 * 4 + e % 4;
          },
          second);
      for (std::uint64_t i = 0; i < count; ++i) others_[i] = numbers.words[element(i) / 4 % 4].lane_array().at[i];
    }
    return others_;
  }
  void make_group(random_stream const& stream, std::uint64_t group, bool second) {
    random_lanes<float> const numbers(stream, group * static_cast<std::uint64_t>(width), 1, second);
    for (int w = 0; w < 4; ++w) {
      array const lanes = numbers.words[w].lane_array();
      for (int k = 0; k < width / 4; ++k) std::memcpy(words_ + k * 16 + w * 4, lanes.at + 4 * k, 16);
    }
    begin_ = group * kept, made_ = kept;
  }

  std::uint64_t begin_ = 0, made_ = 0;  // the first element whose word is cached, and the number of such elements
  alignas(64) std::uint32_t words_[kept];
  alignas(64) std::uint32_t others_[width];  // words that are not all in one cached group
};

}  // namespace detail

/// The uniform numbers in [0, 1) of the elements first, first + stride, …, one in each lane. They have the bits of
/// `meshtensor::random_uniform<T>`, where T is float or double. Use one source for one stream, because it caches words
/// of adjacent elements.
template <class T>
class uniform_source {
 public:
  vec<T> operator()(random_stream const& stream, std::uint64_t first, std::uint64_t stride = 1) {
    using bits = math::bits_of<vec<T>>;
    bits const word = read(words_, stream, first, stride, false);
    return math::uniform_of<vec<T>>(word, sizeof(T) == 8 ? read(more_, stream, first, stride, true) : word);
  }

 private:
  static math::bits_of<vec<T>> read(detail::neighbouring_words& from, random_stream const& stream, std::uint64_t first,
                                    std::uint64_t stride, bool second) {
    using bits = math::bits_of<vec<T>>;
    std::uint32_t const* const words = from.read(stream, first, stride, second, bits::width);
    if constexpr (sizeof(T) == sizeof *words) {
      return load<std::uint32_t>(words);
    } else {
      typename bits::array lanes;
      for (int i = 0; i < bits::width; ++i) lanes.at[i] = words[i];
      return bits::of(lanes);
    }
  }

  detail::neighbouring_words words_, more_;
};

/// The standard normal numbers of the elements first, first + stride, …, one in each lane.
template <class T>
inline vec<T> random_normal(random_stream const& stream, std::uint64_t first, std::uint64_t stride = 1) {
  detail::random_lanes<T> const lanes(stream, first, stride);
  return math::normal_of<vec<T>>(lanes.words[0], lanes.words[1], lanes.words[2], lanes.words[3]);
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

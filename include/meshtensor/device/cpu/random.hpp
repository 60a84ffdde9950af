// The random numbers of base/philox.hpp, a register at a time: each lane has the bits of its global index.
#pragma once

#include "meshtensor/base/philox.hpp"
#include "meshtensor/device/cpu/math.hpp"

namespace meshtensor::cpu {

namespace detail {

/// Low and high halves of the product of each word with a constant, where a word is a 32-bit lane or the low half of a
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

/// The four words of the elements first, first + stride, …, one element a lane.
template <class T>
struct random_lanes {
  using bits = math::bits_of<vec<T>>;
  using word = typename bits::scalar;
  bits words[4];

  random_lanes(random_stream const& stream, std::uint64_t first, std::uint64_t stride) {
    typename bits::array low, high;
    for (int i = 0; i < bits::width; ++i, first += stride) {
      low.at[i] = static_cast<std::uint32_t>(first);
      high.at[i] = static_cast<std::uint32_t>(first >> 32);
    }
    bits c0 = bits::of(low), c1 = bits::of(high);
    bits c2(static_cast<std::uint32_t>(stream.iteration)), c3(static_cast<std::uint32_t>(stream.iteration >> 32));
    auto [k0, k1] = stream.key;
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
      product_of_words<word> const p0(c0, 0xD2511F53u), p1(c2, 0xCD9E8D57u);
      c0 = p1.high ^ c1 ^ bits(k0), c1 = p1.low;
      c2 = p0.high ^ c3 ^ bits(k1), c3 = p0.low;
    }
    words[0] = c0, words[1] = c1, words[2] = c2, words[3] = c3;
  }
};

}  // namespace detail

/// The uniform numbers in [0, 1) of the elements first, first + stride, …, one a lane: the bits of
/// `meshtensor::random_uniform<T>`. T is float or double.
template <class T>
inline vec<T> random_uniform(random_stream const& stream, std::uint64_t first, std::uint64_t stride = 1) {
  detail::random_lanes<T> const lanes(stream, first, stride);
  return math::uniform_of<vec<T>>(lanes.words[0], lanes.words[1]);
}

/// The standard normal numbers likewise.
template <class T>
inline vec<T> random_normal(random_stream const& stream, std::uint64_t first, std::uint64_t stride = 1) {
  detail::random_lanes<T> const lanes(stream, first, stride);
  return math::normal_of<vec<T>>(lanes.words[0], lanes.words[1], lanes.words[2], lanes.words[3]);
}

}  // namespace meshtensor::cpu

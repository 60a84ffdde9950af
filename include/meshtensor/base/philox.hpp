// SPDX-License-Identifier: Apache-2.0
// Philox, a counter-based random generator: the key and the global index alone determine an element's value, on any
// rank.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/base/math.hpp"
#include "meshtensor/base/trigonometry.hpp"

namespace meshtensor {

using philox_counter = std::array<std::uint32_t, 4>;
using philox_key = std::array<std::uint32_t, 2>;

/// Philox4x32 with 10 rounds: a bijection of the counter for every key, statistically random in both.
///
/// Source: Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3, SC 2011.
constexpr philox_counter philox(philox_counter counter, philox_key key) {
  auto [c0, c1, c2, c3] = counter;
  auto [k0, k1] = key;
  for (int round = 0; round < 10; ++round) {
    std::uint64_t const product0 = std::uint64_t{0xD2511F53u} * c0;
    std::uint64_t const product1 = std::uint64_t{0xCD9E8D57u} * c2;
    c0 = static_cast<std::uint32_t>(product1 >> 32) ^ c1 ^ k0;
    c2 = static_cast<std::uint32_t>(product0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<std::uint32_t>(product1);
    c3 = static_cast<std::uint32_t>(product0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {c0, c1, c2, c3};
}

/// The key of one random tensor in one step, different from all others.
struct random_key {
  std::uint64_t seed = 0;      // the run's
  std::uint64_t identity = 0;  // of the node: its path, and its ordinal in the trace
  std::uint64_t step = 0;

  friend constexpr bool operator==(random_key const&, random_key const&) = default;
};

/// The random words of one tensor in one iteration of its loops. Construct it once, then ask by global index.
///
/// Its Philox has as key the first two words of Philox(counter = (identity, step), key = seed), low words first. Its
/// counter is (number, iteration), low words first. The number and the word of an element depend on its index alone, so
/// that any block can be generated alone.
struct random_stream {
  philox_key key{};
  std::uint64_t iteration = 0;

  constexpr random_stream() = default;
  constexpr random_stream(random_key const& k, std::uint64_t in_iteration) : iteration(in_iteration) {
    auto const derived =
        philox({low(k.identity), high(k.identity), low(k.step), high(k.step)}, {low(k.seed), high(k.seed)});
    key = {derived[0], derived[1]};
  }

  /// The four words of one number, or four others with `second`.
  constexpr philox_counter words(std::uint64_t number, bool second = false) const {
    return philox({low(number), high(number), low(iteration), high(iteration) ^ (second ? 0x80000000u : 0u)}, key);
  }
  /// One word of an element. Sixteen neighbours share four numbers, and four neighbours read the same word of each.
  /// Therefore a register of numbers yields registers of neighbours.
  constexpr std::uint32_t word(std::uint64_t global_index, bool second = false) const {
    return words(global_index / 16 * 4 + global_index % 4, second)[global_index / 4 % 4];
  }

 private:
  static constexpr std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
  static constexpr std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }
};

namespace math {

namespace detail {
/// Converts a word of 32 bits to a number, which is rounded in float.
template <class V>
constexpr V number_of_word(bits_of<V> word) {
  if constexpr (sizeof(scalar_of<V>) == 8) {
    return number_of<V>(word);
  } else {
    using w = typename format_of<V>::bits;
    return number_of<V>(word >> 16) * V(65536.0f) + number_of<V>(word & bits_of<V>(w{0xffff}));
  }
}
}  // namespace detail

/// Uniform in [0, 1). In float it has the leading 24 bits of word 0. In double it has 53 bits: all 32 of word 0, and
/// the leading 21 of word 1. Therefore both have the same leading 24 bits.
template <class V>
constexpr V uniform_of(bits_of<V> word0, [[maybe_unused]] bits_of<V> word1) {
  if constexpr (sizeof(scalar_of<V>) == 8) {
    return number_of<V>(word0) * V(0x1p-32) + number_of<V>(word1 >> 11) * V(0x1p-53);
  } else {
    using w = typename format_of<V>::bits;
    return number_of<V>(word0 >> 20) * V(0x1p-12f) + number_of<V>((word0 >> 8) & bits_of<V>(w{0xfff})) * V(0x1p-24f);
  }
}

/// A number of `uniform_of<float>` as bf16. It is rounded towards zero, because rounding to nearest gives 1 in one of
/// 512 elements. So a comparison with a bf16 gives the same as in float.
template <class V>
constexpr V truncated_to_bf16(V x) {
  return from_bits<V>(to_bits(x) & bits_of<V>(typename format_of<V>::bits{0xffff0000u}));
}

/// Standard normal, from all four words of one element: sqrt(-2·log(u))·cos(2π·v), with u in (0, 1] and v a fraction of
/// a turn. Its absolute value is at most 6.7 in float, and 8.6 in double.
///
/// Source: Box and Muller, A note on the generation of random normal deviates, 1958.
template <class V>
constexpr V normal_of(bits_of<V> word0, [[maybe_unused]] bits_of<V> word1, bits_of<V> word2,
                      [[maybe_unused]] bits_of<V> word3) {
  using s = scalar_of<V>;
  using w = typename format_of<V>::bits;
  constexpr w eighth = w{1} << 29;
  auto const moved = (word2 + bits_of<V>(eighth)) & bits_of<V>(w{0xffffffffu});  // quadrant, then place in it
  V turn = detail::number_of_word<V>(moved & bits_of<V>(w{0x3fffffffu})) - V(s(eighth));
  V u;
  if constexpr (sizeof(s) == 8) {
    turn = turn + number_of<V>(word3) * V(0x1p-32);
    u = number_of<V>(word0) * V(0x1p-32) + (number_of<V>(word1 >> 11) + V(1)) * V(0x1p-53);
  } else {
    u = number_of<V>(word0 >> 16) * V(0x1p-16f) + (number_of<V>(word0 & bits_of<V>(w{0xffff})) + V(1)) * V(0x1p-32f);
  }
  V const r = turn * V(s(0x1.921fb54442d18p-30));  // a quadrant of 2^30 is π/2
  V const cosine = detail::sine_of_quadrant<V>(r, (moved >> 30) + bits_of<V>(w{1}));
  return sqrt(V(s(-2)) * log(u)) * cosine;
}

}  // namespace math

/// Uniform in [0, 1), of one element. T is float, double or bf16_t. See math::uniform_of and math::truncated_to_bf16.
template <class T>
constexpr T random_uniform(random_stream const& stream, std::uint64_t global_index) {
  if constexpr (std::is_same_v<T, bf16_t>) {
    return math::truncated_to_bf16(random_uniform<float>(stream, global_index));
  } else {
    std::uint32_t const more = sizeof(T) == 8 ? stream.word(global_index, true) : 0;
    return math::uniform_of<T>(stream.word(global_index), more);
  }
}

/// Standard normal, of one element. T is float or double. See math::normal_of.
template <class T>
constexpr T random_normal(random_stream const& stream, std::uint64_t global_index) {
  auto const w = stream.words(global_index);
  return math::normal_of<T>(w[0], w[1], w[2], w[3]);
}

}  // namespace meshtensor

// SPDX-License-Identifier: Apache-2.0
// The generator against the published answers, the library's convention for keys and counters, and the shape of what is
// made of the bits.
// sample
#include "meshtensor/base/philox.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <vector>

namespace mt = meshtensor;
using mt::philox;
using mt::philox_counter;

TEST_CASE("known answers") {
  constexpr std::uint32_t ones = 0xffffffffu;
  static_assert(philox({0, 0, 0, 0}, {0, 0}) == philox_counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  static_assert(philox({ones, ones, ones, ones}, {ones, ones}) ==
                philox_counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  static_assert(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
                philox_counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
  philox_counter volatile_counter{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344};
  CHECK(philox(volatile_counter, {0xa4093822, 0x299f31d0})[0] == 0xd16cfe09);
}

TEST_CASE("key and counter hold what they say") {
  constexpr mt::random_key key{0x1111111122222222, 0x3333333344444444, 0x5555555566666666};
  constexpr auto derived = philox({0x44444444, 0x33333333, 0x66666666, 0x55555555}, {0x22222222, 0x11111111});
  constexpr mt::random_stream stream(key, 0x7777777788888888);
  static_assert(stream.key[0] == derived[0] && stream.key[1] == derived[1]);
  static_assert(stream.words(0x99999999aaaaaaaa) ==
                philox({0xaaaaaaaa, 0x99999999, 0x88888888, 0x77777777}, {derived[0], derived[1]}));
  static_assert(stream.words(5, true) == philox({5, 0, 0x88888888, 0xf7777777}, {derived[0], derived[1]}));
}

TEST_CASE("every word of every number is the word of one element") {
  constexpr mt::random_stream stream({1, 2, 3}, 4);
  for (bool second : {false, true}) {
    std::multiset<std::uint32_t> of_elements, of_numbers;
    for (std::uint64_t i = 160; i < 320; ++i) of_elements.insert(stream.word(i, second));
    for (std::uint64_t n = 40; n < 80; ++n)
      for (std::uint32_t w : stream.words(n, second)) of_numbers.insert(w);
    CHECK(of_elements == of_numbers);
  }
  CHECK(stream.word(3) != stream.word(3, true));
}

TEST_CASE("each part of the key and the counter matters, its high half too") {
  std::set<std::uint32_t> seen;
  int made = 0;
  for (std::uint64_t x : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 40})
    for (int part = 0; part < 5; ++part) {
      if (x == 0 && part != 0) continue;
      mt::random_key const key{part == 0 ? x : 7, part == 1 ? x : 7, part == 2 ? x : 7};
      seen.insert(mt::random_stream(key, part == 3 ? x : 7).words(part == 4 ? x : 7)[0]);
      ++made;
    }
  CHECK(made == 11);
  CHECK(seen.size() == 11);
}

TEST_CASE("uniform numbers fill [0, 1) evenly, and f64 refines f32") {
  mt::random_stream const stream({42, 1, 0}, 0);
  int const n = 200000;
  std::vector<int> bins(100);
  double sum = 0, neighbours = 0, previous = 0.5;
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    auto const x = mt::random_uniform<float>(stream, static_cast<std::uint64_t>(i));
    auto const fine = mt::random_uniform<double>(stream, static_cast<std::uint64_t>(i));
    wrong += !(x >= 0 && x < 1 && fine >= double{x} && fine - double{x} < 0x1p-24 && fine < 1);
    wrong += x * 0x1p24f != std::floor(x * 0x1p24f);
    ++bins[static_cast<std::size_t>(x * 100)];
    sum += x;
    neighbours += (x - 0.5) * (previous - 0.5);
    previous = x;
  }
  CHECK(wrong == 0);
  CHECK(std::abs(sum / n - 0.5) < 4 * std::sqrt(1.0 / 12 / n));
  CHECK(std::abs(neighbours / n) < 4 * (1.0 / 12) / std::sqrt(n));
  double chi = 0;
  for (int count : bins) chi += (count - n / 100.0) * (count - n / 100.0) / (n / 100.0);
  CHECK(chi > 50);
  CHECK(chi < 160);  // 99 degrees of freedom
}

TEST_CASE("uniform numbers of bf16 are those of f32 without the last bits") {
  mt::random_stream const stream({42, 1, 0}, 0);
  int wrong = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    auto const x = mt::random_uniform<float>(stream, i);
    float const half = mt::random_uniform<mt::bf16_t>(stream, i);
    wrong += !(half <= x && x - half <= x * 0x1p-7f && half < 1 && half == float{mt::bf16_t(half)});
    wrong += (half < 0.25f) != (x < 0.25f) || (half == 0) != (x == 0);
  }
  CHECK(wrong == 0);
}

TEST_CASE("the extremes of the bits stay inside") {
  namespace math = mt::math;
  std::uint32_t const ones = 0xffffffffu;
  CHECK(math::uniform_of<float>(0u, 0u) == 0.0f);
  CHECK(math::uniform_of<float>(ones, ones) == 1.0f - 0x1p-24f);
  CHECK(math::truncated_to_bf16(1.0f - 0x1p-24f) == 1.0f - 0x1p-8f);
  CHECK(math::uniform_of<double>(ones, ones) == 1.0 - 0x1p-53);
  for (std::uint32_t a : {0u, ones})
    for (std::uint32_t b : {0u, 0x1fffffffu, 0x20000000u, 0x80000000u, 0xdfffffffu, 0xe0000000u, ones}) {
      CHECK(std::abs(math::normal_of<float>(a, a, b, b)) < 6.7f);
      CHECK(std::abs(math::normal_of<double>(a, a, b, b)) < 8.6);
    }
  CHECK(math::normal_of<float>(0u, 0u, 0u, 0u) > 6.6f);  // the smallest u, no turn
  CHECK(math::normal_of<double>(0u, 0u, 0u, 0u) > 8.5);
}

TEST_CASE_TEMPLATE("normal numbers have the moments and the tails of the normal distribution", T, float, double) {
  mt::random_stream const stream({42, 2, 5}, 1);
  int const n = 200000;
  double moment[5] = {};
  int beyond[4] = {};
  for (int i = 0; i < n; ++i) {
    double const x = mt::random_normal<T>(stream, static_cast<std::uint64_t>(i));
    for (int m = 1; m < 5; ++m) moment[m] += std::pow(x, m) / n;
    for (int k = 1; k < 4; ++k) beyond[k] += std::abs(x) > k;
  }
  double const s = 1 / std::sqrt(n);
  CHECK(std::abs(moment[1]) < 4 * s);
  CHECK(std::abs(moment[2] - 1) < 4 * std::sqrt(2) * s);
  CHECK(std::abs(moment[3]) < 4 * std::sqrt(15) * s);
  CHECK(std::abs(moment[4] - 3) < 4 * std::sqrt(96) * s);
  for (int k = 1; k < 4; ++k) {
    double const p = std::erfc(k / std::sqrt(2));
    CHECK(std::abs(beyond[k] - n * p) < 4 * std::sqrt(n * p));
  }
}

TEST_CASE("the normal number is Box's and Muller's") {
  mt::random_stream const stream({1, 2, 3}, 4);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    auto const w = stream.words(i);
    double const u = w[0] * 0x1p-32 + ((w[1] >> 11) + 1) * 0x1p-53, v = w[2] * 0x1p-32 + w[3] * 0x1p-64;
    double const want = std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v);
    CHECK(std::abs(mt::random_normal<double>(stream, i) - want) < 1e-14);
    CHECK(std::abs(double{mt::random_normal<float>(stream, i)} - want) < 2e-6);
  }
}

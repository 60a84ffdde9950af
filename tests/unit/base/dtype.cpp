// SPDX-License-Identifier: Apache-2.0
// Element types: sizes, accumulators, and how bf16 rounds.
// sample
#include "meshtensor/base/dtype.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <type_traits>

namespace mt = meshtensor;

namespace {

float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }

// The nearest of the two neighbours, decided in f64, where the sums are exact; to the even one in the middle.
std::uint16_t nearest(std::uint32_t bits) {
  std::uint16_t const below = static_cast<std::uint16_t>(bits >> 16);
  std::uint16_t const above = static_cast<std::uint16_t>(below + 1);
  double const low = std::abs(double{float_of(std::uint32_t{below} << 16)});
  // The step past the largest finite number leads to infinity, which counts as the next power of two.
  double const next = std::abs(double{float_of(std::uint32_t{above} << 16)});
  double const high = std::isinf(next) ? std::ldexp(1.0, 128) : next;
  double const value = std::abs(double{float_of(bits)});
  if (value - low != high - value) return value - low < high - value ? below : above;
  return (below & 1) == 0 ? below : above;
}

}  // namespace

TEST_CASE("the size of an element is that of its C++ type") {
  for (mt::dtype t : {mt::dtype::f64, mt::dtype::f32, mt::dtype::bf16, mt::dtype::i32, mt::dtype::i64, mt::dtype::u8,
                      mt::dtype::boolean}) {
    std::size_t const bytes = mt::with_element(t, []<class E>() { return sizeof(E); });
    CHECK_MESSAGE(mt::bytes_of(t) == bytes, mt::text_of(t));
  }
}

TEST_CASE("each type is called by its name, and its element type is the one that the switch finds") {
  CHECK(std::string(mt::text_of(mt::f64)) == "f64");
  CHECK(std::string(mt::text_of(mt::bf16)) == "bf16");
  CHECK(std::string(mt::text_of(mt::boolean)) == "bool");
  CHECK(std::is_same_v<mt::element_t<mt::bf16>, mt::bf16_t>);
  CHECK(mt::with_element(mt::i64, []<class E>() { return std::is_same_v<E, mt::element_t<mt::i64>>; }));
  CHECK(mt::with_element(mt::u8, []<class E>() { return std::is_same_v<E, mt::element_t<mt::u8>>; }));
}

TEST_CASE("sums are made in a type that can hold them") {
  CHECK(mt::accumulator_of(mt::f64) == mt::f64);
  CHECK(mt::accumulator_of(mt::f32) == mt::f32);
  CHECK(mt::accumulator_of(mt::bf16) == mt::f32);
  for (mt::dtype t : {mt::dtype::i32, mt::dtype::i64, mt::dtype::u8, mt::dtype::boolean}) {
    CHECK(mt::accumulator_of(t) == mt::i64);
    CHECK_FALSE(mt::is_float(t));
  }
}

TEST_CASE("bf16 rounds to nearest, and to even in the middle") {
  CHECK(mt::bf16_t(1.0f).bits == 0x3f80);
  CHECK(mt::bf16_t(float_of(0x3f808000)).bits == 0x3f80);  // the middle, below it even
  CHECK(mt::bf16_t(float_of(0x3f818000)).bits == 0x3f82);  // the middle, above it even
  CHECK(mt::bf16_t(float_of(0x3f808001)).bits == 0x3f81);  // just past the middle
  CHECK(mt::bf16_t(float_of(0x3f807fff)).bits == 0x3f80);  // just short of it
  CHECK(mt::bf16_t(float_of(0xbf818000)).bits == 0xbf82);  // the sign changes nothing

  int wrong = 0;
  for (std::uint32_t high = 0; high < 0x7f80; ++high)  // every finite number of bf16, with both signs
    for (std::uint32_t low : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      for (std::uint32_t sign : {0u, 0x80000000u}) {
        std::uint32_t const bits = sign | (high << 16) | low;
        wrong += mt::bf16_t(float_of(bits)).bits != nearest(bits);
      }
  CHECK(wrong == 0);
}

TEST_CASE("every bf16 survives the way to f32 and back") {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    mt::bf16_t value;
    value.bits = static_cast<std::uint16_t>(bits);
    float const wide = value;
    mt::bf16_t const back = wide;
    wrong += std::isnan(wide) ? !std::isnan(float(back)) : back.bits != value.bits;
  }
  CHECK(wrong == 0);
}

TEST_CASE("bf16 keeps infinities, not-a-number, zero's sign, and overflows to infinity") {
  float const infinity = std::numeric_limits<float>::infinity();
  CHECK(float(mt::bf16_t(infinity)) == infinity);
  CHECK(float(mt::bf16_t(-infinity)) == -infinity);
  CHECK(float(mt::bf16_t(std::numeric_limits<float>::max())) == infinity);
  CHECK(std::isnan(float(mt::bf16_t(std::numeric_limits<float>::quiet_NaN()))));
  CHECK(std::isnan(float(mt::bf16_t(float_of(0x7f800001)))));  // its set bits are all in the half that is cut
  CHECK(std::signbit(float(mt::bf16_t(-0.0f))));
}

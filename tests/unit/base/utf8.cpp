// SPDX-License-Identifier: Apache-2.0
// UTF-8: every character, and nothing else.
#include "meshtensor/base/utf8.hpp"

#include <doctest/doctest.h>

#include <string>

namespace mt = meshtensor;

namespace {

std::string encoded(char32_t c) {
  auto const tail = [](char32_t x) { return static_cast<char>(0x80 | (x & 0x3f)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xc0 | c >> 6), tail(c)};
  if (c < 0x10000) return {static_cast<char>(0xe0 | c >> 12), tail(c >> 6), tail(c)};
  return {static_cast<char>(0xf0 | c >> 18), tail(c >> 12), tail(c >> 6), tail(c)};
}

}  // namespace

TEST_CASE("every character, and no surrogate") {
  std::string all;
  for (char32_t c = 0; c < 0x110000; ++c) {
    std::string const bytes = encoded(c);
    bool const surrogate = c >= 0xd800 && c < 0xe000;
    std::size_t const length = mt::utf8_length(bytes, 0);
    REQUIRE(length == (surrogate ? 0 : bytes.size()));
    if (surrogate) continue;
    REQUIRE(mt::utf8_point(bytes, 0, length) == c);
    for (std::size_t cut = 1; cut < length; ++cut) REQUIRE(mt::utf8_length(bytes.substr(0, cut), 0) == 0);
    all += bytes;
  }
  CHECK(mt::first_not_utf8(all) == std::string::npos);
}

TEST_CASE("as many sequences as characters") {
  int two = 0, three = 0;
  for (unsigned i = 0; i < 1u << 24; ++i) {
    char const bytes[] = {static_cast<char>(i >> 16), static_cast<char>(i >> 8), static_cast<char>(i)};
    std::size_t const length = mt::utf8_length({bytes, 3}, 0);
    two += length == 2, three += length == 3;
  }
  CHECK(two == (0x800 - 0x80) * 256);
  CHECK(three == 0x10000 - 0x800 - 0x800);
  int four = 0;
  for (unsigned i = 0; i < 1u << 16; ++i) {
    char const bytes[] = {static_cast<char>(i >> 8), static_cast<char>(i), '\x80', '\xbf'};
    four += mt::utf8_length({bytes, 4}, 0) == 4;
  }
  CHECK(four == 0x100000 / 0x1000);
}

TEST_CASE("where the first fault is") {
  CHECK(mt::first_not_utf8("") == std::string::npos);
  CHECK(mt::first_not_utf8("ab\xc3\xa4") == std::string::npos);
  CHECK(mt::first_not_utf8("ab\xc3") == 2);
  CHECK(mt::first_not_utf8("\xc3\xa4\x80") == 2);
  CHECK(mt::first_not_utf8("a\xf0\x9f\x98x") == 1);
  CHECK(mt::utf8_length("a", 1) == 0);
  static_assert(mt::utf8_point("\xe2\x82\xac", 0, 3) == 0x20ac);
}

// SPDX-License-Identifier: Apache-2.0
// A name as a value and as a template argument: four words, so that it is cheap to compare and to mangle.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace meshtensor {

/// The name of a dim, an axis, a parameter or a scope: at most 32 characters, fixed when the program is compiled.
///
/// A literal that is too long does not compile. `name::of` makes a name from run-time text and cuts off the rest.
struct name {
  static constexpr std::size_t capacity = 32;

  std::uint64_t w0, w1, w2, w3;  // no array: nvcc cannot put a class with an array into a kernel's template arguments

  constexpr name() : w0(0), w1(0), w2(0), w3(0) {}
  /// Takes the four words, because nvcc spells a name that is a template argument in this way.
  constexpr name(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) : w0(a), w1(b), w2(c), w3(d) {}

  template <std::size_t N>
  consteval name(char const (&literal)[N]) : name() {  // NOLINT: a literal is a name
    static_assert(N <= capacity + 1, "meshtensor G01: a name has at most 32 characters");
    *this = of(std::string_view(literal, N - 1));
  }

  static constexpr name of(std::string_view text) {
    std::uint64_t words[4] = {0, 0, 0, 0};
    for (std::size_t i = 0; i < text.size() && i < capacity; ++i)
      words[i / 8] |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * (i % 8));
    name result;
    result.w0 = words[0], result.w1 = words[1], result.w2 = words[2], result.w3 = words[3];
    return result;
  }

  constexpr bool operator==(name const&) const = default;
  constexpr bool empty() const { return w0 == 0; }

  constexpr char operator[](std::size_t i) const {
    std::uint64_t const word = i < 8 ? w0 : i < 16 ? w1 : i < 24 ? w2 : w3;
    return static_cast<char>((word >> (8 * (i % 8))) & 0xff);
  }

  constexpr std::size_t size() const {
    std::size_t n = 0;
    while (n < capacity && (*this)[n] != '\0') ++n;
    return n;
  }

  constexpr std::string text() const {
    std::string result;
    for (std::size_t i = 0; i < size(); ++i) result += (*this)[i];
    return result;
  }
};

namespace detail {
/// The letters of a name for uses in which text() fails, because it allocates memory and clang's constant evaluation
/// has no std::string.
struct letters {
  char at[name::capacity] = {};
  std::size_t size = 0;
  constexpr explicit letters(name const& n) : size(n.size()) {
    for (std::size_t i = 0; i < size; ++i) at[i] = n[i];
  }
  constexpr operator std::string_view() const { return {at, size}; }  // NOLINT: letters are text
};
}  // namespace detail

}  // namespace meshtensor

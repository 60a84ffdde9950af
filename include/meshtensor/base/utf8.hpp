// SPDX-License-Identifier: Apache-2.0
// UTF-8: the length, code point and validity of characters.
#pragma once

#include <cstddef>
#include <string_view>

namespace meshtensor {

/// The bytes of the character that begins at `text[at]`: 1 to 4, or 0 if it is invalid. As in the Unicode standard
/// (version 15, table 3-7), overlong forms, surrogates and code points beyond U+10FFFF are invalid.
constexpr std::size_t utf8_length(std::string_view text, std::size_t at) {
  auto const byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  unsigned const first = byte(at), second = byte(at + 1);
  if (at >= text.size()) return 0;
  if (first < 0x80) return 1;
  std::size_t const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  unsigned const least = first == 0xe0 ? 0xa0u : first == 0xf0 ? 0x90u : 0x80u;
  unsigned const most = first == 0xed ? 0x9fu : first == 0xf4 ? 0x8fu : 0xbfu;
  if (length == 0 || second < least || second > most) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if ((byte(at + i) & 0xc0u) != 0x80u) return 0;
  return length;
}

/// The code point of a character whose length utf8_length has returned.
constexpr char32_t utf8_point(std::string_view text, std::size_t at, std::size_t length) {
  auto const byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[at + i])); };
  char32_t point = length == 1 ? byte(0) : byte(0) & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) point = point << 6 | (byte(i) & 0x3fu);
  return point;
}

/// The position of the first byte that belongs to no character, or npos if all bytes are valid UTF-8.
constexpr std::size_t first_not_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const length = utf8_length(text, at);
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

constexpr bool is_utf8(std::string_view text) { return first_not_utf8(text) == std::string_view::npos; }

}  // namespace meshtensor

// SPDX-License-Identifier: Apache-2.0
// Samples the text that a model writes, and shows it in a terminal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "meshtensor/base/utf8.hpp"

namespace meshtensor::datasets {

/// Samples a byte from its probabilities: the first byte at which their cumulative sum exceeds `chance`, a number in
/// [0, 1).
inline std::uint8_t draw_byte(std::span<float const> likely, double chance) {
  double sum = 0, all = 0;
  for (float p : likely) all += static_cast<double>(p);
  std::size_t last = 0;
  for (std::size_t i = 0; i < likely.size(); ++i) {
    if (likely[i] > 0) last = i;
    if ((sum += static_cast<double>(likely[i])) > chance * all) return static_cast<std::uint8_t>(i);
  }
  return static_cast<std::uint8_t>(last);
}

/// Bytes as text for any terminal. Control characters, and bytes that are not UTF-8, become `\xNN`.
inline std::string shown(std::span<std::uint8_t const> bytes) {
  std::string_view const text(reinterpret_cast<char const*>(bytes.data()), bytes.size());
  std::string r;
  for (std::size_t i = 0, length = 0; i < text.size(); i += length) {
    length = utf8_length(text, i);
    char32_t const point = length == 0 ? 0 : utf8_point(text, i, length);
    if (point == '\n' || point == '\t' || (point >= 0x20 && point < 0x7f) || point >= 0xa0) {
      r += text.substr(i, length);
      continue;
    }
    char const* const digit = "0123456789abcdef";
    length = 1;  // a character that is not shown: each byte by itself
    r += {'\\', 'x', digit[bytes[i] >> 4], digit[bytes[i] & 15]};
  }
  return r;
}

}  // namespace meshtensor::datasets

// Text that a model writes: a byte drawn by its probability, and bytes as a terminal can show them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace meshtensor {

/// A byte drawn by its probabilities: the first one at which their sum passes a `chance` from [0, 1).
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

/// Bytes as text that any terminal can show: what is not UTF-8, and what moves the cursor, is written as \xNN.
inline std::string shown(std::span<std::uint8_t const> bytes) {
  std::string r;
  for (std::size_t i = 0; i < bytes.size();) {
    std::uint8_t const b = bytes[i];
    std::size_t const more = b >= 0xc2 && b < 0xe0 ? 1 : b >= 0xe0 && b < 0xf0 ? 2 : b >= 0xf0 && b < 0xf5 ? 3 : 0;
    bool good = more != 0 && i + more < bytes.size() && !(b == 0xc2 && bytes[i + 1] < 0xa0);
    for (std::size_t k = 1; good && k <= more; ++k) good = (bytes[i + k] & 0xc0) == 0x80;
    if (good && more == 2) good = !(b == 0xe0 && bytes[i + 1] < 0xa0) && !(b == 0xed && bytes[i + 1] >= 0xa0);
    if (good && more == 3) good = !(b == 0xf0 && bytes[i + 1] < 0x90) && !(b == 0xf4 && bytes[i + 1] >= 0x90);
    if (good) {
      r.append(bytes.begin() + static_cast<std::ptrdiff_t>(i),
               bytes.begin() + static_cast<std::ptrdiff_t>(i + more + 1));
      i += more + 1;
      continue;
    }
    if (b == '\n' || b == '\t' || (b >= 0x20 && b < 0x7f)) {
      r += static_cast<char>(b);
    } else {
      char const* const digit = "0123456789abcdef";
      r += {'\\', 'x', digit[b >> 4], digit[b & 15]};
    }
    ++i;
  }
  return r;
}

}  // namespace meshtensor

// SPDX-License-Identifier: Apache-2.0
// 64-bit checksums by XXH3, and their text.
#pragma once

#include <xxhash.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace meshtensor::io {

using checksum = std::uint64_t;

inline checksum checksum_of(std::span<std::byte const> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }
inline checksum checksum_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

/// A checksum of bytes that arrive in pieces.
class running_checksum {
 public:
  running_checksum() : state_(XXH3_createState(), &XXH3_freeState) {
    if (!state_ || XXH3_64bits_reset(state_.get()) != XXH_OK) throw std::bad_alloc();
  }
  void add(std::span<std::byte const> bytes) { XXH3_64bits_update(state_.get(), bytes.data(), bytes.size()); }
  checksum value() const { return XXH3_64bits_digest(state_.get()); }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

/// A checksum as sixteen hexadecimal digits.
inline std::string text_of(checksum c) {
  char digits[16];
  auto const end = std::to_chars(digits, digits + 16, c, 16).ptr;
  return std::string(static_cast<std::size_t>(digits + 16 - end), '0') + std::string(digits, end);
}
inline std::optional<checksum> checksum_in(std::string_view text) {
  checksum c = 0;
  auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), c, 16);
  bool const whole = text.size() == 16 && problem == std::errc{} && end == text.data() + text.size();
  return whole && text == text_of(c) ? std::optional(c) : std::nullopt;
}

}  // namespace meshtensor::io

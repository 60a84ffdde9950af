// SPDX-License-Identifier: Apache-2.0
// Protocol buffer messages, written and read: numbered fields, each an integer, a real number or bytes.
//
// Source: developers.google.com/protocol-buffers, Encoding.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace meshtensor::detail {

/// A number as `count` bytes, the lowest first.
inline std::string little_endian(std::uint64_t value, int count) {
  std::string r;
  for (int i = 0; i < count; ++i) r += static_cast<char>(value >> 8 * i & 0xff);
  return r;
}

/// A message, written field by field.
class message {
 public:
  std::string const& bytes() const { return bytes_; }

  message& integer(int field, std::int64_t value) {
    if (value == 0) return *this;  // an absent field is 0
    key(field, 0);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  message& real(int field, double value) { return fixed(field, 1, std::bit_cast<std::uint64_t>(value), 8); }
  message& real(int field, float value) { return fixed(field, 5, std::bit_cast<std::uint32_t>(value), 4); }
  message& text(int field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  message& inner(int field, message const& value) { return text(field, value.bytes()); }

 private:
  message& fixed(int field, unsigned kind, std::uint64_t value, int count) {
    key(field, kind);
    bytes_ += little_endian(value, count);
    return *this;
  }
  void key(int field, unsigned kind) { varint(static_cast<unsigned>(field) << 3 | kind); }
  void varint(std::uint64_t value) {
    for (; value > 0x7f; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

/// Reads a message: calls `f(number, bytes)` for each field that has bytes, and `integer(number, value)` for each field
/// that has an integer, until one returns false. It skips real numbers. Returns false if a call did, or if the message
/// is malformed.
template <class F, class G>
bool each_field(std::string_view message, F f, G integer) {
  auto const number = [&](std::uint64_t& n) {
    n = 0;
    for (int shift = 0; shift < 64 && !message.empty(); shift += 7) {
      auto const byte = static_cast<unsigned char>(message[0]);
      message.remove_prefix(1);
      n |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  };
  for (std::uint64_t key = 0, n = 0; !message.empty();) {
    if (!number(key)) return false;
    std::uint64_t size = 0;
    switch (key & 7) {
      case 0:
        if (!number(n) || !integer(key >> 3, n)) return false;
        break;
      case 1: size = 8; break;
      case 2:
        if (!number(size)) return false;
        break;
      case 5: size = 4; break;
      default: return false;
    }
    if (size > message.size()) return false;
    if ((key & 7) == 2 && !f(key >> 3, message.substr(0, size))) return false;
    message.remove_prefix(size);
  }
  return true;
}
template <class F>
bool each_field(std::string_view message, F f) {
  return each_field(message, f, [](std::uint64_t, std::uint64_t) { return true; });
}

}  // namespace meshtensor::detail

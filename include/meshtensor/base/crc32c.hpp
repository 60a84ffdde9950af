// SPDX-License-Identifier: Apache-2.0
// CRC-32C, the checksum of records in files.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace meshtensor {

/// CRC-32C of bytes. Source: Castagnoli, Braeuer and Herrmann, Optimization of cyclic redundancy-check codes with 24
/// and 32 parity bits, 1993. RFC 3720, appendix B.4, has examples.
constexpr std::uint32_t crc32c(std::string_view bytes) {
  constexpr auto of_byte = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t rest = i;
      for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? 0x82f63b78u : 0u);
      table[i] = rest;
    }
    return table;
  }();
  std::uint32_t rest = 0xffffffffu;
  for (char c : bytes) rest = rest >> 8 ^ of_byte[(rest ^ static_cast<unsigned char>(c)) & 0xffu];
  return ~rest;
}

}  // namespace meshtensor

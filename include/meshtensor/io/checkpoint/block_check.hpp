// SPDX-License-Identifier: Apache-2.0
// Checks a block in a file: its checksums, and that its floats are not NaN.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/io/checksum.hpp"
#include "meshtensor/io/file.hpp"

namespace meshtensor::io {

namespace detail {

/// The index of the first NaN, or -1. A float is NaN if its bits without the sign are above the bits of infinity.
template <class Bits>
std::int64_t first_above(std::span<std::byte const> elements, Bits sign, Bits infinity) {
  auto const bits = [&](std::size_t i) {
    Bits b;
    std::memcpy(&b, elements.data() + i * sizeof(Bits), sizeof(Bits));
    return static_cast<Bits>(b & static_cast<Bits>(~sign));
  };
  std::size_t const count = elements.size() / sizeof(Bits);
  bool any = false;  // no early exit, so that the compiler vectorizes the loop
  for (std::size_t i = 0; i < count; ++i) any |= bits(i) > infinity;
  for (std::size_t i = 0; any && i < count; ++i)
    if (bits(i) > infinity) return static_cast<std::int64_t>(i);
  return -1;
}

}  // namespace detail

/// The index of the first NaN, or -1.
inline std::int64_t first_nan(dtype type, std::span<std::byte const> elements) {
  switch (type) {
    case dtype::f64: return detail::first_above<std::uint64_t>(elements, 1ull << 63, 0x7ffull << 52);
    case dtype::f32: return detail::first_above<std::uint32_t>(elements, 1u << 31, 0x7f800000u);
    case dtype::bf16: return detail::first_above<std::uint16_t>(elements, 0x8000u, 0x7f80u);
    default: return -1;
  }
}

/// Whether all bytes are 0 or 1.
inline bool are_bool(std::span<std::byte const> elements) {
  return std::all_of(elements.begin(), elements.end(), [](std::byte b) { return b <= std::byte{1}; });
}

/// Blocks are checked in pieces of this size. Each piece has its own checksum, so that several processes can share a
/// block.
inline constexpr std::int64_t piece_bytes = 1 << 24;
constexpr std::int64_t pieces_of(std::int64_t bytes) { return (bytes + piece_bytes - 1) / piece_bytes; }

/// The checksums of a block's pieces, concatenated.
inline std::string checksums_of(std::span<std::byte const> block) {
  std::string all;
  for (std::size_t at = 0; at < block.size(); at += piece_bytes)
    all += text_of(checksum_of(block.subspan(at, std::min<std::size_t>(piece_bytes, block.size() - at))));
  return all;
}

/// A block in a file, with its dtype and checksums.
struct block_in_file {
  file const& from;
  std::int64_t offset, bytes;
  dtype type;
  std::optional<std::string_view> checksums;  // as saved; nothing if they are unknown
};

/// Reads and checks a piece of a block.
///
/// errors  C02 it cannot be read; C05 it is damaged; C09 it has NaN, unless that is allowed
inline void check_piece(block_in_file const& b, std::int64_t piece, bool may_be_nan, std::string const& label) {
  constexpr std::int64_t at_once = 1 << 18;  // fits in a cache
  std::vector<std::byte> buffer(static_cast<std::size_t>(std::min(at_once, b.bytes)));
  running_checksum sum;
  std::int64_t nan = -1;
  bool bools = true;
  std::int64_t const first = piece * piece_bytes, last = std::min(b.bytes, first + piece_bytes);
  for (std::int64_t at = first; at < last; at += at_once) {
    std::span const some(buffer.data(), static_cast<std::size_t>(std::min(at_once, last - at)));
    b.from.read(b.offset + at, some);
    if (b.checksums) sum.add(some);
    bools = bools && (b.type != dtype::boolean || are_bool(some));
    std::int64_t const here = may_be_nan || nan >= 0 ? -1 : first_nan(b.type, some);
    if (here >= 0) nan = at / static_cast<std::int64_t>(bytes_of(b.type)) + here;
  }
  std::string const what = "'" + b.from.path() + "' is damaged: the bytes " + std::to_string(b.offset + first) +
                           " to " + std::to_string(b.offset + last) + ", of '" + label + "', are not ";
  if (b.checksums && b.checksums->substr(static_cast<std::size_t>(16 * piece), 16) != text_of(sum.value()))
    throw error("C05", {what, "those that were written"});
  if (!bools) throw error("C05", {what, "all 0 or 1, true or false"});
  if (nan >= 0)
    throw error("C09", {"'", b.from.path(), "' has NaN in '", label, "', first as element ", nan,
                        " of the block at byte ", b.offset, ": if that is meant, say {.nan = true}"});
}

}  // namespace meshtensor::io

// SPDX-License-Identifier: Apache-2.0
// Copies and clears bytes, of which there may be none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace meshtensor {

/// Copies `n` bytes. A rank that holds no part of a tensor has no memory for it, and memcpy does not take null even for
/// no bytes.
inline constexpr auto copy_bytes = [](void* to, void const* from, std::int64_t n) {
  if (n != 0) std::memcpy(to, from, static_cast<std::size_t>(n));
};

inline constexpr auto clear_bytes = [](void* to, std::int64_t n) {
  if (n != 0) std::memset(to, 0, static_cast<std::size_t>(n));
};

}  // namespace meshtensor

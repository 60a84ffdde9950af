// SPDX-License-Identifier: Apache-2.0
// Many words as one number, for telling things apart.
#pragma once

#include <cstdint>

namespace meshtensor {

/// Mixes words, whose order counts, into a number.
struct hash_combine {
  std::uint64_t hash = 0xcbf29ce484222325ull;

  template <class... Words>
  constexpr hash_combine& operator()(Words... words) {
    ((hash = (hash ^ static_cast<std::uint64_t>(words)) * 0x100000001b3ull, hash ^= hash >> 29), ...);
    return *this;
  }
};

}  // namespace meshtensor

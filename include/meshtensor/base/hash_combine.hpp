// SPDX-License-Identifier: Apache-2.0
// Combines a sequence of words into one hash.
#pragma once

#include <cstdint>

namespace meshtensor {

/// Adds words to a hash. Their order matters.
struct hash_combine {
  std::uint64_t hash = 0xcbf29ce484222325ull;

  template <class... Words>
  constexpr hash_combine& operator()(Words... words) {
    ((hash = (hash ^ static_cast<std::uint64_t>(words)) * 0x100000001b3ull, hash ^= hash >> 29), ...);
    return *this;
  }
};

}  // namespace meshtensor

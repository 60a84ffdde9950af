// SPDX-License-Identifier: Apache-2.0
// Shuffles numbers without a table: any element of a random permutation is computed on its own.
#pragma once

#include <bit>
#include <cstdint>

#include "meshtensor/base/philox.hpp"

namespace meshtensor::datasets {

/// A permutation of 0 … count − 1. Each key gives another permutation.
///
/// source  Luby and Rackoff, How to construct pseudorandom permutations from pseudorandom functions, 1988; Black and
/// Rogaway, Ciphers with arbitrary finite domains, 2002, section 3 (cycle walking)
class permutation {
 public:
  permutation(std::int64_t count, random_key const& key)
      : count_(static_cast<std::uint64_t>(count)),
        half_((static_cast<int>(std::bit_width(count_ > 1 ? count_ - 1 : 1)) + 1) / 2),
        random_(key, 0) {}

  /// The number at a position. Both count from 0.
  std::int64_t operator()(std::int64_t place) const {
    auto x = static_cast<std::uint64_t>(place);
    do x = mixed(x);
    while (x >= count_);  // mixed permutes a power of four below four times the count, so this ends
    return static_cast<std::int64_t>(x);
  }

 private:
  std::uint64_t mixed(std::uint64_t x) const {
    std::uint64_t const mask = (std::uint64_t{1} << half_) - 1;
    std::uint64_t left = x >> half_, right = x & mask;
    for (std::uint64_t round = 0; round < 8; ++round) {
      std::uint64_t const next = left ^ (random_.words(round << 32 | right)[0] & mask);
      left = right, right = next;
    }
    return left << half_ | right;
  }

  std::uint64_t count_;
  int half_;
  random_stream random_;
};

}  // namespace meshtensor::datasets

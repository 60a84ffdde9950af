// SPDX-License-Identifier: Apache-2.0
// Kinds of reduction, one list for operations along dims, partial values over mesh axes, and collectives.
#pragma once

#include <cstdint>

namespace meshtensor {

/// `none` means that nothing is reduced, so a value of this kind over a mesh axis is not partial.
enum class reduction : std::uint8_t { none, sum, max, min };

constexpr char const* text_of(reduction kind) {
  constexpr char const* names[] = {"", "sum", "max", "min"};
  return names[static_cast<int>(kind)];
}

}  // namespace meshtensor

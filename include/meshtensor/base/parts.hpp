// SPDX-License-Identifier: Apache-2.0
// Cuts a row of elements into balanced parts: the one rule by which ranks and threads share work.
#pragma once

#include <cstdint>

namespace meshtensor {

/// Consecutive elements of a row.
struct interval {
  std::int64_t begin;
  std::int64_t count;

  constexpr bool operator==(interval const&) const = default;
};

/// Part `index` of `elements` that are cut into `parts`. All parts have the same length, or the first ones have one
/// element more. If there are fewer elements than parts, the last parts are empty. With a grain, which divides the
/// number of elements, parts are multiples of it, because `elements / grain` units are cut.
///
/// source  the decomposition of PETSc (PetscSplitOwnership) and of MPI codes with MPI_Cart
constexpr interval part_of(std::int64_t elements, std::int64_t parts, std::int64_t index, std::int64_t grain = 1) {
  std::int64_t const units = elements / grain, base = units / parts, rest = units % parts;
  return {(base * index + (index < rest ? index : rest)) * grain, (base + (index < rest ? 1 : 0)) * grain};
}

/// Whether all parts have the same length.
constexpr bool is_even(std::int64_t elements, std::int64_t parts, std::int64_t grain = 1) {
  return elements / grain % parts == 0;
}

}  // namespace meshtensor

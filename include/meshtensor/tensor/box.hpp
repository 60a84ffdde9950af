// SPDX-License-Identifier: Apache-2.0
// Computes the part of a tensor that a rank holds: its box, dim by dim. All other code asks these functions which rank
// holds which elements.
#pragma once

#include "meshtensor/base/parts.hpp"
#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/tensor/layout.hpp"

namespace meshtensor {

/// The part of the dim at `position` that a rank holds. The axes that shard a dim cut it one after the other, beginning
/// with the major axis. Each axis divides the part that the axes before it have left into balanced parts. For example,
/// 5 elements over 2 x 2 ranks give parts of 2, 1, 1 and 1, and 6 elements give 2, 1, 2 and 1.
///
/// size, place  functions of an axis: its number of ranks, and the rank's coordinate along it
/// axes         how many of the dim's axes cut
template <class Size, class Place>
constexpr interval part_held(std::int64_t extent, std::int64_t grain, placement const& layout, int position, Size size,
                             Place place, int axes = max_axes) {
  interval held{0, extent};
  for (int o = 0, a = 0; o < axes && (a = layout.axis_at(position, o)) >= 0; ++o) {
    interval const part = part_of(held.count, size(a), place(a), grain);
    held = {held.begin + part.begin, part.count};
  }
  return held;
}

/// The same for a rank of a mesh.
constexpr interval part_of_rank(std::int64_t extent, std::int64_t grain, placement const& layout, int position,
                                mesh_shape const& mesh, std::int64_t rank, int axes = max_axes) {
  return part_held(
      extent, grain, layout, position, [&](int a) { return mesh.axes[a].extent; },
      [&](int a) { return mesh.coordinate(rank, a); }, axes);
}

}  // namespace meshtensor

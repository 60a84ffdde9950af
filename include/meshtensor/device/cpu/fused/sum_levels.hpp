// SPDX-License-Identifier: Apache-2.0
// Holds the upper levels of the sums along a vector. Whenever the lanes have added sum_fan_in packs, they are carried
// one level up. Therefore the error grows with the logarithm of the vector's length. Short vectors need no upper level.
#pragma once

#include "meshtensor/base/sum.hpp"
#include "meshtensor/device/cpu/fused/lane_pack/reduce.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

/// Whether a reduction rounds. Only then does the order of its terms make a difference.
template <reduction K, class E>
inline constexpr bool rounds = K == reduction::sum && std::is_floating_point_v<register_t<E>>;

/// Sums of 32, 32², … packs. A level counts from its first carry on, so nothing is cleared before.
template <class T>
struct upper_levels {
  static constexpr int count = 4;
  lane_pack<T> level[count];

  /// Takes the lanes' sums after `packs` packs in all, which is a multiple of sum_fan_in. The lanes then start anew.
  /// why: it is not inlined because it is rare, and because the lanes' own sums should stay in registers.
  [[gnu::noinline]] void carry(lane_pack<T> const& sums, std::int64_t packs) {
    lane_pack<T> carried = sums;
    std::int64_t below = sum_fan_in;
    for (int l = 0;; ++l, below *= sum_fan_in) {
      carried = packs == below ? carried : combined<reduction::sum>(level[l], carried);
      level[l] = carried;
      if (l + 1 == count || packs % (below * sum_fan_in) != 0) return;
      level[l] = lane_pack<T>(T(0));
    }
  }
  /// Adds all levels to `sums`, which are the sums of the packs since the last carry. `packs` counts all packs.
  lane_pack<T> added_to(lane_pack<T> sums, std::int64_t packs) const {
    std::int64_t below = sum_fan_in;
    for (int l = 0; l < count && packs > below; ++l, below *= sum_fan_in)
      sums = combined<reduction::sum>(sums, level[l]);
    return sums;
  }
};
inline constexpr std::int64_t bytes_of_upper_levels = upper_levels<std::int64_t>::count * pack_width * 8;

/// The number of packs of a vector.
constexpr std::int64_t packs_of(std::int64_t elements) { return (elements + pack_width - 1) / pack_width; }

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

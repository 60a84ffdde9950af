// SPDX-License-Identifier: Apache-2.0
// Packs the axes over which exchanged rows are distributed into the value of a dim of holders.
#pragma once

#include <cstdint>

#include "meshtensor/base/config.hpp"
#include "meshtensor/tensor/layout.hpp"

namespace meshtensor {

/// The value of a dim of holders, which `partition` sets: the axes over whose ranks rows are distributed, and the axes
/// along which they are exchanged. It is packed into one number. The number is 0 on whole tensors, because they have
/// one holder.
struct row_holders {
  unsigned axes;         // a mask of the axes that shard the index
  placement group_axes;  // placement of a value with one dim, the groups, over the axes along which rows go to groups

  static constexpr row_holders unpacked(std::int64_t value) {
    row_holders h{static_cast<unsigned>(value & 0x7f), {}};
    for (std::int64_t rest = value >> 8; rest != 0; rest >>= 4) h.group_axes.shard(0, static_cast<int>(rest & 15) - 1);
    return h;
  }
  constexpr std::int64_t packed() const {
    std::int64_t all = 0;
    for (int o = group_axes.axes_of(0); o-- > 0;) all = all << 4 | (group_axes.axis_at(0, o) + 1);
    return all << 8 | 0x80 | axes;
  }
  constexpr unsigned group_mask() const {
    unsigned mask = 0;
    for (int a = 0; a < max_axes; ++a)
      if (group_axes.shards(a)) mask |= 1u << a;
    return mask;
  }
  /// Shards the dim at `position` of a value as a dim of holders. The axes of the exchange are the minor ones.
  /// Therefore a part without them has the ranks that exchange rows with each other, in the order of their ranks.
  constexpr placement& shard(placement& p, int position) const {
    for (bool const exchanged : {false, true})
      for (int a = 0; a < max_axes; ++a)
        if ((axes >> a & 1u) != 0 && group_axes.shards(a) == exchanged) p.shard(position, a);
    return p;
  }
};

}  // namespace meshtensor

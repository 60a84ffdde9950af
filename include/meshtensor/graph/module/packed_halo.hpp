// SPDX-License-Identifier: Apache-2.0
// Packs the window and the axes of a part with its halo into the value of a halo dim.
#pragma once

#include <cstdint>

#include "meshtensor/tensor/ids.hpp"
#include "meshtensor/tensor/layout.hpp"

namespace meshtensor {

/// The value of a halo dim: the window, and the axes that shard `second`, the first axis major. It is packed into one
/// number.
struct packed_halo {
  id window;       // a row of the table of windows
  bool of_inputs;  // whether `first` is the window's input and `second` its output, or the other way round
  placement axes;  // placement of a value with one dim, `second`

  static constexpr packed_halo unpacked(std::int64_t value) {
    packed_halo c{static_cast<id>(value & 0xffff), (value >> 16 & 1) != 0, {}};
    for (std::int64_t rest = value >> 17; rest != 0; rest >>= 4) c.axes.shard(0, static_cast<int>(rest & 15) - 1);
    return c;
  }
  constexpr std::int64_t packed() const {
    std::int64_t all = 0;
    for (int o = axes.axes_of(0); o-- > 0;) all = all << 4 | (axes.axis_at(0, o) + 1);
    return all << 17 | (of_inputs ? 1 << 16 : 0) | window;
  }
};

}  // namespace meshtensor

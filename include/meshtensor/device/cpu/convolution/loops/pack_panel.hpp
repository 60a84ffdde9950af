// SPDX-License-Identifier: Apache-2.0
// Packs a matrix of factors into panels of a few columns, as products of blocks read them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "meshtensor/device/cpu/convolution/gather.hpp"
#include "meshtensor/device/cpu/load.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

/// Packs `depth` rows of factors into one panel of columns, padded with zeros. `row[i]` is the offset of row i.
template <class Sum, class E>
void pack_panel(E const* from, std::int64_t const* row, std::int64_t depth, std::int64_t stride, std::int64_t columns,
                std::int64_t panel, Sum* to) {
  std::int64_t const here = std::min(panel, columns);
  if (stride == 1 || here == 1) {
    for (std::int64_t i = 0; i < depth; ++i, to += panel) {
      copy_elements(from + row[i], 1, to, here);
      if (here < panel) std::fill(to + here, to + panel, Sum(0));
    }
    return;
  }
  if (here < panel) std::fill_n(to, depth * panel, Sum(0));
  constexpr std::int64_t square = 16;  // the transposition goes in squares, so that both sides stay in the cache
  for (std::int64_t start = 0; start < depth; start += square)
    for (std::int64_t j = 0; j < here; ++j)
      for (std::int64_t i = start; i < std::min(depth, start + square); ++i)
        to[i * panel + j] = number_of_element<Sum>(from[row[i] + j * stride]);
}

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

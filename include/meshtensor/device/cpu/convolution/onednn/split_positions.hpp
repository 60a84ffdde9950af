// SPDX-License-Identifier: Apache-2.0
// Cuts a convolution into pieces of a few positions, because oneDNN may add all products of a piece one after the
// other.
#pragma once

#include "meshtensor/device/cpu/onednn.hpp"

#if MESHTENSOR_WITH_ONEDNN

#  include <algorithm>
#  include <cstdint>

#  include "meshtensor/base/sum.hpp"
#  include "meshtensor/device/cpu/convolution/onednn/choice.hpp"
#  include "meshtensor/device/cpu/convolution/problem.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace onednn {

/// Calls f(piece, offset of its input, offset of its output) for pieces of at most most_products positions. A piece
/// consists of some images, or of some rows of one image. It has at least one row, even if the row has more
/// positions.
template <class F>
void split_positions(convolution_problem const& p, F const& f) {
  convolution_dim const& d = p.dim[0];
  std::int64_t const positions = p.output_positions(), row = positions / d.output;
  std::int64_t const rows = std::max<std::int64_t>(1, most_products / row);
  std::int64_t const images = std::max<std::int64_t>(1, most_products / positions);
  for (std::int64_t i = 0; i < p.images; i += images)
    for (std::int64_t at = 0; at < d.output; at += rows) {
      convolution_problem piece = p;
      convolution_dim& own = piece.dim[0];
      piece.images = std::min(images, p.images - i);
      own.output = std::min(rows, d.output - at);
      std::int64_t const begin = std::max<std::int64_t>(0, d.stride * at - d.low);
      std::int64_t const end = d.stride * (at + own.output - 1) + d.dilation * (d.kernel - 1) - d.low + 1;
      own.low = d.low - d.stride * at + begin;
      own.input = std::min(end, d.input) - begin;
      if (own.input < 1) throw slow();
      f(piece, i * p.input.image + begin * p.input.spatial[0], i * p.output.image + at * p.output.spatial[0]);
    }
}

}  // namespace onednn
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

#endif

// SPDX-License-Identifier: Apache-2.0
// Decides whether oneDNN computes a convolution faster than our own loops.
#pragma once

#include "meshtensor/device/cpu/onednn.hpp"

#if MESHTENSOR_WITH_ONEDNN

#  include <cstdint>

#  include "meshtensor/device/cpu/convolution/problem.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace onednn {

/// Thrown if the library's implementation of a convolution is slower than our own loops.
struct slow {};

/// Whether the library may be faster for this problem, which must be ordered.
inline bool takes(convolution_problem const& p, int threads) {
  constexpr std::int64_t sooner_than_a_call = 1 << 18;  // multiplications
  if (onednn::type_of(p.type) == dnnl::memory::data_type::undef || p.dims == 0 || p.products() < sooner_than_a_call)
    return false;
  // Threads without images would be idle. Our loops cut the work more finely.
  std::int64_t const most = (p.images + threads - 1) / threads;
  if (p.images * 10 < most * threads * 8) return false;
  bool const merges =
      p.groups == 1 || ((p.input_channels == 1 || p.input.group == p.input_channels * p.input.input_channel) &&
                        (p.output_channels == 1 || p.output.group == p.output_channels * p.output.output_channel));
  bool fits = merges;
  for (int i = 0; i < p.dims; ++i) {
    convolution_dim const& d = p.dim[i];
    std::int64_t const beyond = d.dilation * (d.kernel - 1), high = high_padding(d);
    fits = fits && d.low >= 0 && d.low <= beyond && high > -d.stride && high <= beyond;
  }
  // If each kernel element has few positions, adding and copying the threads' sums takes long in comparison with
  // computing them. Our loops are fast if channels are contiguous and the dtype is f32.
  bool const contiguous = p.input.input_channel == 1 && p.output.output_channel == 1 && p.type == dtype::f32;
  std::int64_t const few = contiguous ? 256 * (threads + 1) : 64 * (threads - 1);
  if (p.direction == convolution_direction::weights) fits = fits && p.images * p.output_positions() >= few;
  return fits;
}

}  // namespace onednn
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

#endif

// SPDX-License-Identifier: Apache-2.0
// Describes a convolution of up to three spatial dims, forward or either of its gradients, with any strides in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/dtype.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

inline constexpr int max_spatial_dims = 3;

/// Which of the three tensors is computed from the other two.
enum class convolution_direction : std::uint8_t {
  forward,  // output = Σ over channels and kernel positions of input · kernel
  data,     // input = Σ over output channels and kernel positions of output · kernel: the gradient of the input
  weights   // kernel = Σ over images and output positions of input · output: the gradient of the kernel
};

/// One spatial dim. Input position i, output position o and kernel position w meet if
///
///     i = stride·o + dilation·w - low
///
/// and i is inside the input. Outside of it, the input counts as 0. If `low` is negative, the first input positions are
/// unused. The extents are independent of each other. Therefore output positions that reach no input are 0, and input
/// positions that no output reaches have a gradient of 0.
struct convolution_dim {
  std::int64_t input = 1, output = 1, kernel = 1;
  std::int64_t stride = 1, dilation = 1, low = 0;
};

/// The padding behind the input, which is negative if the last input positions are unused.
inline std::int64_t high_padding(convolution_dim const& d) {
  return (d.output - 1) * d.stride + d.dilation * (d.kernel - 1) + 1 - d.low - d.input;
}

/// The memory layout of a tensor, as the number of elements from one index to the next. A tensor does not use all
/// strides. The input has image, group and input_channel. The output has image, group and output_channel. The kernel
/// has group and both channels.
struct convolution_strides {
  std::int64_t image = 0, group = 0, input_channel = 0, output_channel = 0;
  std::int64_t spatial[max_spatial_dims] = {};
};

struct convolution_problem {
  convolution_direction direction = convolution_direction::forward;
  dtype type = dtype::f32;  // of all three tensors, but sums of bf16 are f32
  std::int64_t images = 1, groups = 1;
  std::int64_t input_channels = 1, output_channels = 1;  // of one group
  int dims = 0;
  convolution_dim dim[max_spatial_dims];
  convolution_strides input, output, kernel;

  /// The numbers of output positions of an image, of kernel positions, and of input positions of an image.
  std::int64_t output_positions() const { return product(&convolution_dim::output); }
  std::int64_t kernel_positions() const { return product(&convolution_dim::kernel); }
  std::int64_t input_positions() const { return product(&convolution_dim::input); }
  std::int64_t input_elements() const { return images * groups * input_channels * input_positions(); }
  std::int64_t output_elements() const { return images * groups * output_channels * output_positions(); }
  std::int64_t kernel_elements() const { return groups * input_channels * output_channels * kernel_positions(); }
  std::int64_t result_elements() const {
    return direction == convolution_direction::forward ? output_elements()
           : direction == convolution_direction::data  ? input_elements()
                                                       : kernel_elements();
  }
  /// The number of multiplications, including those by padding.
  std::int64_t products() const { return output_elements() * input_channels * kernel_positions(); }

 private:
  std::int64_t product(std::int64_t convolution_dim::* extent) const {
    std::int64_t count = 1;
    for (int i = 0; i < dims; ++i) count *= dim[i].*extent;
    return count;
  }
};

/// Whether this build has a library that may run convolutions with epilogues in one pass.
#if MESHTENSOR_WITH_ONEDNN && defined(__SSE2__)
inline constexpr bool joins_epilogues = true;
#else
inline constexpr bool joins_epilogues = false;
#endif

/// The operations that follow a forward convolution. Their order is: times factor, plus offset, plus the previous
/// result, relu. Factor and offset are f32 and have one element for each output channel of all groups.
struct convolution_epilogue {
  bool factor = false, offset = false, sum = false, relu = false;
  bool any() const { return factor || offset || sum || relu; }
};

/// errors  R30 dtypes without convolutions, an extent below 0, a stride or dilation below 1, more than 3 spatial dims
inline void check(convolution_problem const& p) {
  if (!is_float(p.type))
    throw error("R30", {"a convolution of ", text_of(p.type), ": cast its operands to f32, bf16 or f64"});
  bool bad = p.dims < 0 || p.dims > max_spatial_dims || p.images < 0 || p.groups < 0 || p.input_channels < 0 ||
             p.output_channels < 0;
  for (int i = 0; !bad && i < p.dims; ++i) {
    convolution_dim const& d = p.dim[i];
    bad = d.input < 0 || d.output < 0 || d.kernel < 0 || d.stride < 1 || d.dilation < 1;
  }
  if (bad)
    throw error("R30",
                "a convolution has more than 3 spatial dims, an extent below 0, or a stride or dilation below 1: "
                "describe it with strides and dilations of 1 or more");
}

/// Returns the same convolution with its spatial dims in the order of the input's memory, the innermost last. Dims
/// along which nothing varies are dropped.
inline convolution_problem ordered(convolution_problem p) {
  auto const swap_dims = [&](int a, int b) {
    std::swap(p.dim[a], p.dim[b]);
    for (convolution_strides* x : {&p.input, &p.output, &p.kernel}) std::swap(x->spatial[a], x->spatial[b]);
  };
  for (int i = p.dims; i-- > 0;) {
    convolution_dim const& d = p.dim[i];
    if (d.input != 1 || d.output != 1 || d.kernel != 1 || d.low != 0) continue;
    for (int k = i; k + 1 < p.dims; ++k) swap_dims(k, k + 1);
    --p.dims;
  }
  auto const step = [&](int i) { return std::pair(p.input.spatial[i], p.output.spatial[i]); };
  for (int i = 1; i < p.dims; ++i)
    for (int k = i; k > 0 && step(k - 1) < step(k); --k) swap_dims(k - 1, k);
  return p;
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

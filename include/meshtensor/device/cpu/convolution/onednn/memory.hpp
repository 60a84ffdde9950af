// SPDX-License-Identifier: Apache-2.0
// Describes the tensors of a convolution to oneDNN.
#pragma once

#include "meshtensor/device/cpu/onednn.hpp"

#if MESHTENSOR_WITH_ONEDNN

#  include <cstdint>

#  include "meshtensor/device/cpu/convolution/problem.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace onednn {

using dims = dnnl::memory::dims;

/// An activation as [n, g·c, spatial…]. If there is one channel and one input position, the stride of the channel is
/// 1, as in a dense tensor.
inline dnnl::memory::desc given_activation(convolution_problem const& p, bool input) {
  convolution_strides const& s = input ? p.input : p.output;
  std::int64_t const of_group = input ? p.input_channels : p.output_channels, channels = p.groups * of_group;
  dims extents{p.images, channels};
  dims strides{s.image, of_group == 1 && p.groups > 1 ? s.group : input ? s.input_channel : s.output_channel};
  if (channels == 1) strides[1] = p.input_positions() == 1 ? 1 : strides[1];
  for (int i = 0; i < p.dims; ++i)
    extents.push_back(input ? p.dim[i].input : p.dim[i].output), strides.push_back(s.spatial[i]);
  return {extents, onednn::type_of(p.type), strides};
}
/// The kernel as [g, k, c, spatial…]. The dim g is there only if there are several groups.
inline dnnl::memory::desc given_kernel(convolution_problem const& p) {
  dims extents, strides;
  if (p.groups > 1) extents = {p.groups}, strides = {p.kernel.group};
  extents.insert(extents.end(), {p.output_channels, p.input_channels});
  strides.insert(strides.end(), {p.kernel.output_channel, p.kernel.input_channel});
  for (int i = 0; i < p.dims; ++i) extents.push_back(p.dim[i].kernel), strides.push_back(p.kernel.spatial[i]);
  return {extents, onednn::type_of(p.type), strides};
}
inline dnnl::memory::desc any_format(dnnl::memory::desc const& given, dnnl::memory::data_type type) {
#  if DNNL_VERSION_MAJOR >= 3
  return {given.get_dims(), type, dnnl::memory::format_tag::any};
#  else
  return {given.dims(), type, dnnl::memory::format_tag::any};
#  endif
}
/// A factor or an offset of an epilogue, which has one element for each channel.
inline dnnl::memory::desc channels_of(convolution_problem const& p) {
  dims extents{1, p.output_channels}, strides{p.output_channels, 1};
  for (int i = 0; i < p.dims; ++i) extents.push_back(1), strides.push_back(1);
  return {extents, onednn::type_of(p.type), strides};
}

}  // namespace onednn
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

#endif

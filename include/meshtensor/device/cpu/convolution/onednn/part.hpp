// SPDX-License-Identifier: Apache-2.0
// Runs one part of a convolution by oneDNN, with copies of the activations if they have another format.
#pragma once

#include "meshtensor/device/cpu/onednn.hpp"

#if MESHTENSOR_WITH_ONEDNN

#  include <cstddef>
#  include <cstdint>

#  include "meshtensor/device/cpu/convolution/onednn/without_subnormals.hpp"
#  include "meshtensor/device/cpu/convolution/problem.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace onednn {

/// The direction and epilogue of a convolution, and those operands of the current run that all parts share.
struct convolution_run {
  convolution_direction direction;
  convolution_epilogue epilogue;
  void const *kernel = nullptr, *factor = nullptr, *offset = nullptr;

  bool weights() const { return direction == convolution_direction::weights; }
};

/// Some images, or some rows of one image, that one thread computes.
struct convolution_part {
  onednn::primitive convolution, reorder_input, reorder_output;
  bool copies_input = false, copies_output = false;
  std::size_t input_bytes = 0, output_bytes = 0;              // sizes of the copies
  std::size_t input_at = 0, output_at = 0, workspace_at = 0;  // offsets in the workspace
  std::int64_t first_input = 0, first_output = 0;             // in bytes

  /// `sums` is the block to which a kernel's gradient is written.
  void run(convolution_run const& all, void const* a, void const* b, void* result, void* sums, std::byte* room) {
    bool const data = all.direction == convolution_direction::data, weights = all.weights();
    void const* input = static_cast<std::byte const*>(data ? result : a) + first_input;
    void const* output = static_cast<std::byte const*>(data ? a : weights ? b : result) + first_output;
    void const *given_input = input, *given_output = output;
    std::byte* const workspace = room + workspace_at;
    if (copies_input) input = room + input_at;
    if (copies_output) output = room + output_at;
    if (copies_input && !data) reorder_input.execute({given_input, input}, workspace);
    if (copies_output && (data || weights)) reorder_output.execute({given_output, output}, workspace);
    void const* const kernel = weights ? sums : all.kernel;
    convolution_epilogue const& then = all.epilogue;
    without_subnormals const exact(then.relu);
    if (then.factor && then.offset) convolution.execute({input, kernel, output, all.factor, all.offset}, workspace);
    else if (then.factor || then.offset)
      convolution.execute({input, kernel, output, then.factor ? all.factor : all.offset}, workspace);
    else convolution.execute({input, kernel, output}, workspace);
    if (copies_input && data) reorder_input.execute({input, given_input}, workspace);
    if (copies_output && !data && !weights) reorder_output.execute({output, given_output}, workspace);
  }
};

}  // namespace onednn
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

#endif

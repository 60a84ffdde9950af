// SPDX-License-Identifier: Apache-2.0
// Tells the dims of a convolution's kernel apart from those along which its windows move.
#pragma once

#include <span>

#include "meshtensor/op/rename.hpp"

namespace meshtensor::detail {

/// The kernel of a convolution, without dims that windows move along or give: those become dims of the library's own,
/// in `windows`, too. For example, `window(time, lag, lag)` slides a tensor along `lag` over one along `time`. A layout
/// may shard the result along `lag`, but every rank needs the kernel as a whole.
constexpr value_id kernel_apart(builder& b, value_id kernel, std::span<window_row> windows) {
  shape moved{};
  for (window_row const& w : windows) moved = united(moved, shape{}.add(w.input).add(w.output));
  for (window_row& w : windows) {
    if (!moved.has(w.kernel) || !b.m.values[kernel].dims.has(w.kernel)) continue;
    dim_id const own = b.dim_like(w.kernel);
    kernel = rename(b, kernel, w.kernel, own);
    w.kernel = own;
  }
  return kernel;
}

}  // namespace meshtensor::detail

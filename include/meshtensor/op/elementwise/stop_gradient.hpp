// SPDX-License-Identifier: Apache-2.0
// Stops the gradient of a tensor.
#pragma once

#include "meshtensor/op/elementwise/function_call.hpp"

namespace meshtensor {

/// The same values, through which no gradient flows: for targets and statistics that are not trained.
///
/// grad    0
template <handle H>
constexpr auto stop_gradient(H const& x, detail::line_of<function::stop_gradient, H> const& where = {}) {
  return elementwise_at(fn<function::stop_gradient>{}, where, x);
}

}  // namespace meshtensor

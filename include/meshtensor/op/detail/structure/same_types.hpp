// SPDX-License-Identifier: Apache-2.0
// Compares the dtypes and dims of two values.
#pragma once

#include "meshtensor/graph/module.hpp"

namespace meshtensor::detail {

constexpr bool has_type_of(module const& m, value_id a, value_id b) {
  return m.values[a].type == m.values[b].type && m.values[a].dims == m.values[b].dims;
}
/// Whether `outer` has the dtype of `inner`, and its dims with `dim` in front.
constexpr bool stacks(module const& m, value_id outer, value_id inner, dim_id dim) {
  return m.values[outer].type == m.values[inner].type && !m.values[inner].dims.has(dim) &&
         m.values[outer].dims == led_by(dim, m.values[inner].dims);
}

}  // namespace meshtensor::detail

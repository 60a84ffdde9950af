// SPDX-License-Identifier: Apache-2.0
// Names the dims of views, and arranges memory of the caller in their order.
#pragma once

#include <vector>

#include "meshtensor/array/array_view.hpp"
#include "meshtensor/graph/module.hpp"

namespace meshtensor::detail {

/// The extents of a view, with the names of its dims.
inline std::vector<dim_extent> dims_of_view(module const& m, view const& v) {
  std::vector<dim_extent> dims;
  for (int i = 0; i < v.count; ++i) dims.push_back({m.dim_name(v.dim[i]), v.extent[i]});
  return dims;
}
/// A view of fed memory with its dims in the order of the input.
template <class T>
view arranged(module const& m, array_view<T> const& from, view const& wanted) {
  return from.as(wanted, [&](int i) { return m.dim_name(wanted.dim[i]); });
}

}  // namespace meshtensor::detail

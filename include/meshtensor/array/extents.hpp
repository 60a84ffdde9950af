// SPDX-License-Identifier: Apache-2.0
// Dims with their extents, as lists: the number of elements, the position of a dim, the text, and a dense view.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/tensor/shape.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor::detail {

inline std::int64_t elements_of(std::span<dim_extent const> dims) {
  std::int64_t n = 1;
  for (dim_extent const& d : dims) n *= d.extent;
  return n;
}
inline int position_of(std::span<dim_extent const> dims, name const& label) {
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i].label == label) return static_cast<int>(i);
  return -1;
}
/// A view of a dense row-major array. Its dims are numbered in the order of `dims`.
inline view dense_view(void const* data, dtype type, std::span<dim_extent const> dims) {
  require(dims.size() <= max_dims_of_one, "T07: a tensor has at most 10 dims");
  view v{};
  v.data = const_cast<void*>(data), v.type = type, v.count = static_cast<int>(dims.size());
  for (int i = 0; i < v.count; ++i) {
    v.dim[i] = static_cast<std::uint16_t>(i);
    v.extent[i] = v.total[i] = dims[static_cast<std::size_t>(i)].extent;
  }
  v.densify();
  return v;
}

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

inline std::string text_of(std::span<dim_extent const> dims) {
  std::string t = "[";
  for (dim_extent const& d : dims) t += (t.size() == 1 ? "" : ", ") + d.label.text() + "=" + std::to_string(d.extent);
  return t + "]";
}

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"

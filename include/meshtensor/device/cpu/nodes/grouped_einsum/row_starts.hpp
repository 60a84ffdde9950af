// SPDX-License-Identifier: Apache-2.0
// Finds the rows of a tensor that the index of a grouped einsum numbers: where each begins, and the dims inside of it.
#pragma once

#include <cstdint>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/dtype.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

/// Finds where a row begins in a tensor, by those of its dims that the index has, in the order of the index.
struct row_starts {
  int count = 0;
  std::int64_t extent[max_dims_of_one], stride[max_dims_of_one];

  row_starts() = default;
  row_starts(view const& index, view const& x) {
    for (int i = 0; i < index.count; ++i) add(index, i, x);
  }
  void add(view const& index, int i, view const& x) {
    int const p = x.find(index.dim[i]);
    extent[count] = index.extent[i], stride[count++] = p < 0 ? 0 : x.stride[p];
  }
  std::int64_t number() const {
    std::int64_t n = 1;
    for (int i = 0; i < count; ++i) n *= extent[i];
    return n;
  }
  std::int64_t operator()(std::int64_t row) const {
    std::int64_t at = 0;
    for (int i = count; i-- > 0; row /= extent[i]) at += row % extent[i] * stride[i];
    return at;
  }
};

/// `x` without the dims of the index, and without one more dim.
inline view row_of(view const& x, view const& index, int without) {
  view r = x;
  r.count = 0;
  for (int i = 0; i < x.count; ++i)
    if (x.dim[i] != without && index.find(x.dim[i]) < 0)
      r.dim[r.count] = x.dim[i], r.extent[r.count] = x.extent[i], r.stride[r.count++] = x.stride[i];
  return r;
}
inline view dense(view r, dtype type) {
  r.type = type;
  r.densify();
  return r;
}
/// `count` rows along a dim, one after the other.
inline view stacked(view const& row, int dim, std::int64_t count) {
  require(row.count < max_dims_of_one, "T07: a tensor has at most 10 dims");
  view r = row;
  r.count = 1, r.dim[0] = static_cast<std::uint16_t>(dim), r.extent[0] = count;
  for (int i = 0; i < row.count; ++i) r.dim[r.count] = row.dim[i], r.extent[r.count++] = row.extent[i];
  r.densify();
  return r;
}

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

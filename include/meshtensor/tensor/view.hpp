// SPDX-License-Identifier: Apache-2.0
// A strided view of a tensor in memory, which evaluation rules read and write. It knows its offset in the global
// tensor.
#pragma once

#include <cstdint>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/dtype.hpp"

namespace meshtensor {

struct view {
  void* data;
  dtype type;
  int count;                           // number of dims
  std::uint16_t dim[max_dims_of_one];  // rows of the module's table of dims
  std::int64_t extent[max_dims_of_one];
  std::int64_t stride[max_dims_of_one];  // in elements
  std::int64_t origin[max_dims_of_one];  // global index of the first element
  std::int64_t total[max_dims_of_one];   // global extent

  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  int find(int d) const {
    for (int i = 0; i < count; ++i)
      if (dim[i] == d) return i;
    return -1;
  }
  std::int64_t size() const {
    std::int64_t n = 1;
    for (int i = 0; i < count; ++i) n *= extent[i];
    return n;
  }
  std::int64_t bytes() const { return size() * static_cast<std::int64_t>(bytes_of(type)); }
  /// Makes the strides those of a dense row-major array.
  void densify() {
    std::int64_t n = 1;
    for (int i = count; i-- > 0;) stride[i] = n, n *= extent[i];
  }
};

/// Iterates over all indices of a box in row-major order and keeps one offset for each of N views. `w.offset[k]` is the
/// offset of the element of view k. If a view lacks a dim, its stride along that dim is 0.
template <int N>
struct walk {
  int count = 0;
  std::int64_t extent[2 * max_dims_of_one] = {};
  std::int64_t index[2 * max_dims_of_one] = {};
  std::int64_t stride[N][2 * max_dims_of_one] = {};
  std::int64_t offset[N] = {};

  /// Sets the strides of view k for the dims `along[0..count)`.
  void bind(int k, view const& v, std::uint16_t const* along) {
    for (int i = 0; i < count; ++i) {
      int const p = v.find(along[i]);
      stride[k][i] = p < 0 ? 0 : v.stride[p];
    }
  }
  bool empty() const {
    for (int i = 0; i < count; ++i)
      if (extent[i] == 0) return true;
    return false;
  }
  /// Steps to the next index. Returns false after the last one.
  bool next() {
    for (int i = count; i-- > 0;) {
      ++index[i];
      for (int k = 0; k < N; ++k) offset[k] += stride[k][i];
      if (index[i] < extent[i]) return true;
      for (int k = 0; k < N; ++k) offset[k] -= stride[k][i] * extent[i];
      index[i] = 0;
    }
    return false;
  }
};

/// Iterates over the lines of two views along the dim at position `along` of `y`. The offsets are those of each line's
/// first element.
inline walk<2> walk_of_lines(view const& x, view const& y, int along) {
  walk<2> w;
  for (int i = 0; i < y.count; ++i) w.extent[w.count++] = i == along ? 1 : y.extent[i];
  w.bind(0, x, y.dim), w.bind(1, y, y.dim);
  return w;
}

}  // namespace meshtensor

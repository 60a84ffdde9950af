// SPDX-License-Identifier: Apache-2.0
// Joins dims to groups, each of which is one dim of a matrix or of a batch, and finds the lines of a matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace meshtensor::cuda::detail {

/// Dims of one or both blocks that are joined to one dim of a matrix or of a batch.
struct dim_group {
  std::int64_t extent = 1, first = 0, second = 0, third = 0;  // the strides are those in A, B and C
};

inline void join_dims(std::vector<dim_group>& all, dim_group const& d) {
  if (d.extent == 1) return;
  if (!all.empty()) {
    dim_group& last = all.back();
    if (last.first == d.first * d.extent && last.second == d.second * d.extent && last.third == d.third * d.extent) {
      last = {last.extent * d.extent, d.first, d.second, d.third};
      return;
    }
  }
  all.push_back(d);
}

/// Removes and returns the dims of the matrix: the dims that are contiguous in the result, or otherwise the largest
/// ones.
inline dim_group take_matrix_dims(std::vector<dim_group>& all) {
  if (all.empty()) return {};
  std::size_t best = 0;
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].third == 1 || (all[best].third != 1 && all[i].extent > all[best].extent)) best = i;
  dim_group const g = all[best];
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(best));
  return g;
}

/// Whether a matrix is column-major or row-major. `transposed` is set for row-major, and `line` to the distance
/// between its columns or rows.
inline bool describe_matrix(std::int64_t rows, std::int64_t row, std::int64_t columns, std::int64_t column,
                            bool& transposed, std::int64_t& line) {
  transposed = false;
  if ((row == 1 || rows == 1) && (columns == 1 || column >= rows)) {
    line = columns == 1 ? rows : column;
    return true;
  }
  transposed = true;
  if ((column == 1 || columns == 1) && (rows == 1 || row >= columns)) {
    line = rows == 1 ? columns : row;
    return true;
  }
  return false;
}

}  // namespace meshtensor::cuda::detail

// SPDX-License-Identifier: Apache-2.0
// Many products of a few rows each, as attention makes them word by word: a library takes longer to be called than to
// make one.
#pragma once

#include <algorithm>
#include <cstddef>

#include "meshtensor/device/cpu/matmul_problem.hpp"
#include "meshtensor/device/cpu/small_product.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// C[batch…, m, n] = A[batch…, m, k] · B[batch…, k, n] in f32, where B has contiguous rows or columns: rows are read
/// where they lie, columns are turned first.
class small_batch {
 public:
  static bool takes(matmul_problem const& p) {
    bool const f32 = p.a.type == dtype::f32 && p.b.type == dtype::f32 && p.c.type == dtype::f32;
    bool const small = p.m <= 8 && p.n <= 512 && p.k <= 512 && p.batch_count() >= 8;
    bool const lies_well = p.b.column == 1 || (p.b.row == 1 && p.m <= 2);  // turning takes as long as two rows
    return f32 && small && lies_well && p.c.column == 1 && !p.accumulate;
  }
  small_batch() = default;
  explicit small_batch(matmul_problem const& p) : p_(p), in_place_(p.b.column == 1 && p.n % width == 0) {}

  std::size_t workspace_bytes() const { return static_cast<std::size_t>((p_.k + p_.m) * panel) * sizeof(float); }

  [[gnu::flatten]] void execute(void const* a, void const* b, void* c, void* workspace) const {
    std::int64_t const count = p_.batch_count();
    for (std::int64_t i = 0; i < count; ++i) {
      block_view<float const> const left{static_cast<float const*>(a) + p_.offset(p_.a, i, p_.batch_dims), p_.a.row,
                                         p_.a.column};
      float const* const right = static_cast<float const*>(b) + p_.offset(p_.b, i, p_.batch_dims);
      block_view<float> const result{static_cast<float*>(c) + p_.offset(p_.c, i, p_.batch_dims), p_.c.row};
      if (in_place_) small_product<float>(p_.m, p_.n, p_.k, left, {right, p_.b.row}, result, false);
      else by_panels(left, right, result, static_cast<float*>(workspace));
    }
  }

 private:
  static constexpr std::int64_t width = vec<float>::width, panel = 64;

  /// Some columns at a time, so that what is packed stays in the nearest cache.
  void by_panels(block_view<float const> left, float const* right, block_view<float> result, float* packed) const {
    block_view<float> const sums{packed + p_.k * panel, panel};
    for (std::int64_t first = 0; first < p_.n; first += panel) {
      std::int64_t const columns = std::min(panel, p_.n - first), whole = (columns + width - 1) / width * width;
      pack(right + first * p_.b.column, columns, whole, packed);
      block_view<float> const to = columns == whole ? block_view<float>{result.data + first, result.row} : sums;
      small_product<float>(p_.m, whole, p_.k, left, {packed, panel}, to, false);
      if (columns == whole) continue;
      for (std::int64_t r = 0; r < p_.m; ++r)
        std::copy_n(sums.data + r * panel, columns, result.data + r * result.row + first);
    }
  }
  /// Columns of B as rows that are contiguous, with zeros up to a whole register.
  void pack(float const* from, std::int64_t columns, std::int64_t whole, float* to) const {
    std::int64_t const next = p_.b.column;
    if (next == 1)
      for (std::int64_t p = 0; p < p_.k; ++p) std::copy_n(from + p * p_.b.row, columns, to + p * panel);
    else
      for (std::int64_t j = 0; j < columns; j += turned)
        for (std::int64_t p = 0; p < p_.k; p += turned) {
          if (j + turned <= columns && p + turned <= p_.k) {
            turn_square(from + j * next + p, next, to + p * panel + j, panel);
            continue;
          }
          for (std::int64_t x = j; x < std::min(columns, j + turned); ++x)
            for (std::int64_t y = p; y < std::min(p_.k, p + turned); ++y) to[y * panel + x] = from[x * next + y];
        }
    for (std::int64_t p = 0; p < p_.k; ++p) std::fill(to + p * panel + columns, to + p * panel + whole, 0.0f);
  }

  matmul_problem p_;
  bool in_place_ = false;  // B is read where it lies
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

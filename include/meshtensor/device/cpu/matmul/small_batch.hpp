// SPDX-License-Identifier: Apache-2.0
// Computes many products of a few rows each, as in attention during autoregressive decoding, because a call of a
// library takes longer than one such product.
#pragma once

#include <algorithm>
#include <cstddef>

#include "meshtensor/device/cpu/matmul/dot_tile.hpp"
#include "meshtensor/device/cpu/matmul/problem.hpp"
#include "meshtensor/device/cpu/matmul/small_product.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// Computes C[batch…, m, n] = A[batch…, m, k] · B[batch…, k, n] in f32. Either B has contiguous rows, which are read in
/// place, or B has contiguous columns and A has contiguous rows.
class small_batch {
 public:
  static bool takes(matmul_problem const& p) {
    bool const f32 = p.a.type == dtype::f32 && p.b.type == dtype::f32 && p.c.type == dtype::f32;
    bool const small = p.m <= 8 && p.n <= 512 && p.k <= 512 && p.batch_count() >= 8;
    bool const is_contiguous = p.b.column == 1 || (p.b.row == 1 && p.a.column == 1);
    return f32 && small && is_contiguous && p.c.column == 1 && !p.accumulate;
  }
  small_batch() = default;
  explicit small_batch(matmul_problem const& p) : p_(p) {}

  std::size_t workspace_bytes() const { return static_cast<std::size_t>((p_.k + p_.m) * width) * sizeof(float); }

  template <class Any = lazy>
  [[gnu::flatten]] void execute(void const* a, void const* b, void* c, void* workspace) const {
    std::int64_t const count = p_.batch_count();
    for (std::int64_t i = 0; i < count; ++i) {
      block_view<float const> const left{static_cast<float const*>(a) + p_.offset(p_.a, i, p_.batch_dims), p_.a.row,
                                         p_.a.column};
      float const* const right = static_cast<float const*>(b) + p_.offset(p_.b, i, p_.batch_dims);
      block_view<float> const result{static_cast<float*>(c) + p_.offset(p_.c, i, p_.batch_dims), p_.c.row};
      if (p_.b.column == 1) by_rows<Any>(left, right, result, static_cast<float*>(workspace));
      else by_columns<Any>(left, right, result);
    }
  }

 private:
  static constexpr std::int64_t width = vec<float>::width;

  template <class Any>
  void by_columns(block_view<float const> left, float const* right, block_view<float> result) const {
    std::int64_t const whole = p_.n / width * width;
    block_view<float const> columns{right, p_.b.column};
    for (std::int64_t j = 0; j < whole; j += width, columns.data += width * columns.row, result.data += width)
      dot_tile<float>(p_.m, width, p_.k, left, columns, result);
    if (whole < p_.n) dot_tile<float>(p_.m, p_.n - whole, p_.k, left, columns, result);
  }

  /// Columns that do not fill a register are copied, padded with zeros.
  template <class Any>
  void by_rows(block_view<float const> left, float const* right, block_view<float> result, float* copy) const {
    std::int64_t const whole = p_.n / width * width, rest = p_.n - whole;
    small_product<float>(p_.m, whole, p_.k, left, {right, p_.b.row}, result, false);
    if (rest == 0) return;
    float* const sums = copy + p_.k * width;
    for (std::int64_t p = 0; p < p_.k; ++p)
      store(load<float>(right + p * p_.b.row + whole, static_cast<int>(rest)), copy + p * width);
    small_product<float>(p_.m, width, p_.k, left, {copy, width}, {sums, width}, false);
    for (std::int64_t r = 0; r < p_.m; ++r) std::copy_n(sums + r * width, rest, result.data + r * result.row + whole);
  }

  matmul_problem p_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

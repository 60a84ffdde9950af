// SPDX-License-Identifier: Apache-2.0
// Computes products of rows with rows. A register holds each sum, first lane by lane, and then its lanes are added.
#pragma once

#include "meshtensor/device/cpu/fused/across_lanes.hpp"
#include "meshtensor/device/cpu/matmul/small_product.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// Computes c[r][j] = Σ_p a[r][p]·b[j][p] for as many j as a register has lanes. Rows of b from `columns` on repeat the
/// last row. Sums are computed lane by lane and then over the lanes, so that nothing is transposed.
template <class T>
[[gnu::always_inline]] inline void dot_tile(std::int64_t rows, std::int64_t columns, std::int64_t depth,
                                            block_view<T const> a, block_view<T const> b, block_view<T> c) {
  constexpr int width = vec<T>::width;
  std::int64_t const whole = depth / width * width;
  int const rest = static_cast<int>(depth - whole);
  bool const reads_ahead = rows > 2;  // a tile takes long enough to prefetch the next from memory
  for (std::int64_t r = 0; r < rows; ++r) {
    vec<T> sum[static_cast<std::size_t>(width)];
    auto const add = [&](std::int64_t p, auto const& loaded) __attribute__((always_inline)) {
      vec<T> const x = loaded(a.data + r * a.row + p);
      T const* from = b.data + p;
      detail::unrolled<width>([&](auto j) __attribute__((always_inline)) {
        sum[j] = fma(x, loaded(from), sum[j]);
        if (reads_ahead && r == 0) __builtin_prefetch(from + 2 * width * b.row, 0, 2);
        if (j + 1 < columns) from += b.row;
      });
    };
    detail::unrolled<width>([&](auto j) __attribute__((always_inline)) { sum[j] = vec<T>(T(0)); });
    for (std::int64_t p = 0; p < whole; p += width)
      add(p, [](T const* from) __attribute__((always_inline)) { return load<T>(from); });
    if (rest != 0) add(whole, [rest](T const* from) __attribute__((always_inline)) { return load<T>(from, rest); });
    vec<T> const sums = sums_of_lanes(sum);
    if (columns == width) store(sums, c.data + r * c.row);
    else store(sums, c.data + r * c.row, static_cast<int>(columns));
  }
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

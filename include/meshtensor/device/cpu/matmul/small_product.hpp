// SPDX-License-Identifier: Apache-2.0
// Multiplies blocks that are in a cache, by register tiles and without packing, for kernels that compute many of them.
#pragma once

#include <cstdint>

#include "meshtensor/device/cpu/load.hpp"
#include "meshtensor/device/cpu/unrolled.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// A matrix in memory. Element (i, j) is at data[i · row + j · column].
template <class T>
struct block_view {
  T* data;
  std::int64_t row, column = 1;
};

namespace detail {

/// Computes a tile of sums in Rows × Vectors registers, which are added to c or replace it at the end. Rows of b and c
/// are contiguous.
template <int Rows, int Vectors, class T>
[[gnu::always_inline]] inline void product_tile(std::int64_t depth, block_view<T const> a, block_view<T const> b,
                                                block_view<T> c, bool add) {
  constexpr int width = vec<T>::width;
  vec<T> sum[Rows][Vectors];
  unrolled<Rows>([&](auto i) __attribute__((always_inline)) {
    unrolled<Vectors>([&](auto v) __attribute__((always_inline)) { sum[i][v] = vec<T>(T(0)); });
  });
  for (std::int64_t p = 0; p < depth; ++p) {
    vec<T> row[Vectors];
    unrolled<Vectors>([&](auto v) __attribute__((always_inline)) { row[v] = load<T>(b.data + p * b.row + v * width); });
    unrolled<Rows>([&](auto i) __attribute__((always_inline)) {
      vec<T> const x(a.data[i * a.row + p * a.column]);
      unrolled<Vectors>([&](auto v) __attribute__((always_inline)) { sum[i][v] = fma(x, row[v], sum[i][v]); });
    });
  }
  unrolled<Rows>([&](auto i) __attribute__((always_inline)) {
    unrolled<Vectors>([&](auto v) __attribute__((always_inline)) {
      T* const to = c.data + i * c.row + v * width;
      store(add ? load<T>(static_cast<T const*>(to)) + sum[i][v] : sum[i][v], to);
    });
  });
}

template <int Rows, class T>
inline void product_rows(std::int64_t columns, std::int64_t depth, block_view<T const> a, block_view<T const> b,
                         block_view<T> c, bool add) {
  constexpr int width = vec<T>::width;
  std::int64_t j = 0;
  for (; j + 2 * width <= columns; j += 2 * width)
    product_tile<Rows, 2, T>(depth, a, {b.data + j, b.row}, {c.data + j, c.row}, add);
  for (; j < columns; j += width) product_tile<Rows, 1, T>(depth, a, {b.data + j, b.row}, {c.data + j, c.row}, add);
}

}  // namespace detail

/// Computes C (+)= A·B. `columns` is a multiple of the register's width. Rows of B and C are contiguous, and A has any
/// strides.
template <class T>
inline void small_product(std::int64_t rows, std::int64_t columns, std::int64_t depth, block_view<T const> a,
                          block_view<T const> b, block_view<T> c, bool add) {
  constexpr int most = sizeof(lanes<T>) == 64 ? 12 : 6;
  auto const some = [&]<int Rows>() {
    for (; rows >= Rows; rows -= Rows, a.data += Rows * a.row, c.data += Rows * c.row)
      detail::product_rows<Rows, T>(columns, depth, a, b, c, add);
  };
  some.template operator()<most>();
  if constexpr (most > 8) some.template operator()<8>();
  some.template operator()<5>();
  some.template operator()<4>();
  some.template operator()<2>();
  some.template operator()<1>();
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

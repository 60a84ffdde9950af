// SPDX-License-Identifier: Apache-2.0
// Cuts a head of attention into blocks, which are padded with zeros to whole registers, and copies rows between these
// blocks and memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/device/cpu/attention/problem.hpp"
#include "meshtensor/device/cpu/load.hpp"
#include "meshtensor/device/cpu/load/turn_square.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// The blocks of a head. T is the type of the computation, and E is the type in memory.
template <class T, class E>
struct attention_blocks {
  static constexpr std::int64_t block = 96;                          // queries of a block, and keys of a block
  static constexpr T least_score = static_cast<T>(least_finite<E>);  // the maximum if there are no scores

  static constexpr int width = vec<T>::width;
  static std::int64_t blocks_of(std::int64_t n) { return (n + block - 1) / block; }
  static std::int64_t padded(std::int64_t n) { return (n + width - 1) / width * width; }
  static T* take(T*& at, std::int64_t count) {
    T* const here = at;
    at += (count + 15) / 16 * 16;
    return here;
  }
  static std::int64_t bytes(std::int64_t elements) {
    return (elements + 16 * 16) * static_cast<std::int64_t>(sizeof(T));
  }

  static T get(attention_rows x, std::int64_t i, std::int64_t j) {
    return detail::number_of_element<T>(static_cast<E const*>(x.data)[i * x.row + j * x.column]);
  }
  static void write(T const* from, std::int64_t elements, attention_rows x, std::int64_t i) {
    E* const row = static_cast<E*>(x.data) + i * x.row;
    std::int64_t j = 0;
    if (x.column == 1)
      for (; j + width <= elements; j += width) store(load<T>(from + j), row + j);
    for (; j < elements; ++j) row[j * x.column] = detail::element_of<E>(from[j]);
  }
  static void read(attention_rows x, std::int64_t first, std::int64_t count, std::int64_t elements, T* to,
                   std::int64_t stride, T scale = 1) {
    for (std::int64_t i = 0; i < count; ++i) {
      E const* const from = static_cast<E const*>(x.data) + (first + i) * x.row;
      T* const row = to + i * stride;
      std::int64_t j = 0;
      if (x.column == 1)
        for (; j + width <= elements; j += width) store(load<T>(from + j) * vec<T>(scale), row + j);
      for (; j < elements; ++j) row[j] = detail::number_of_element<T>(from[j * x.column]) * scale;
      std::fill(row + elements, row + stride, T(0));
    }
  }
  /// Transposes x, so that to[j · stride + i] = x[first + i][j], with zeros up to a whole register.
  static void turn(attention_rows x, std::int64_t first, std::int64_t count, std::int64_t elements, T* to,
                   std::int64_t stride) {
    std::int64_t const filled = std::min(stride, padded(count));
    E const* const from = static_cast<E const*>(x.data) + first * x.row;
    for (std::int64_t i = 0; i < count; i += transpose_tile)
      for (std::int64_t j = 0; j < elements; j += transpose_tile) {
        if constexpr (std::is_same_v<T, float> && std::is_same_v<E, float>)
          if (x.column == 1 && i + transpose_tile <= count && j + transpose_tile <= elements) {
            turn_square(from + i * x.row + j, x.row, to + j * stride + i, stride);
            continue;
          }
        for (std::int64_t b = j; b < std::min(elements, j + transpose_tile); ++b)
          for (std::int64_t a = i; a < std::min(count, i + transpose_tile); ++a)
            to[b * stride + a] = get(x, first + a, b);
      }
    for (std::int64_t j = 0; j < elements; ++j) std::fill(to + j * stride + count, to + j * stride + filled, T(0));
  }
  static void scale_row(T* row, std::int64_t elements, T by) {
    for (std::int64_t j = 0; j < elements; j += width)
      store(load<T>(static_cast<T const*>(row + j)) * vec<T>(by), row + j);
  }
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

// SPDX-License-Identifier: Apache-2.0
// Computes matrix products by our own loops, for types that no library supports and for builds without a library. Every
// element is a sum over k in ascending order, in runs of 256 terms, so neither blocks nor strides change a bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "meshtensor/device/cpu/load.hpp"
#include "meshtensor/device/cpu/matmul/problem.hpp"
#include "meshtensor/device/cpu/unrolled.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

namespace detail {

/// The block sizes. A tile of sums is in registers, and the packed blocks of A and B are in the L2 cache.
template <class Sum>
struct matmul_blocks {
  static constexpr int width = vec<Sum>::width;
  static constexpr std::int64_t tile_rows = sizeof(lanes<Sum>) == 64 ? 12 : 6, tile_columns = 2 * width;
  static constexpr std::int64_t rows = 96, columns = 16 * tile_columns, depth = 256;
};

/// Adds Σ_p a[p][i]·b[p][j] to sums[i][j] for one tile, with ascending p and one rounding (or two) per step. The terms
/// are added before they meet `sums`, because 16 such runs have a smaller error than 4096 terms in a row.
template <class Sum>
inline void add_tile(std::int64_t depth, Sum const* a, Sum const* b, Sum* sums, std::int64_t stride) {
  using blocks = matmul_blocks<Sum>;
  constexpr int rows = static_cast<int>(blocks::tile_rows), width = blocks::width;
  vec<Sum> sum[rows][2];
  unrolled<rows>([&](auto i) __attribute__((always_inline)) { sum[i][0] = sum[i][1] = vec<Sum>(Sum(0)); });
  for (std::int64_t p = 0; p < depth; ++p, a += rows, b += 2 * width) {
    vec<Sum> const b0 = load<Sum>(b), b1 = load<Sum>(b + width);
    unrolled<rows>([&](auto i) __attribute__((always_inline)) {
      vec<Sum> const x(a[i]);
      sum[i][0] = fma(x, b0, sum[i][0]);
      sum[i][1] = fma(x, b1, sum[i][1]);
    });
  }
  unrolled<rows>([&](auto i) __attribute__((always_inline)) {
    Sum* const to = sums + i * stride;
    store(load<Sum>(static_cast<Sum const*>(to)) + sum[i][0], to);
    store(load<Sum>(static_cast<Sum const*>(to + width)) + sum[i][1], to + width);
  });
}

/// Calls f.operator()<E>() for an element type if such elements are summed as `Sum`. Floats are summed as floats that
/// are no narrower, and integers are summed as integers.
template <class Sum, class F>
void with_summed(dtype t, F const& f) {
  with_element(t, [&]<class E>() {
    if constexpr (std::is_integral_v<E> != std::is_floating_point_v<Sum> &&
                  (!std::is_floating_point_v<Sum> || sizeof(E) <= sizeof(Sum)))
      f.template operator()<E>();
  });
}

/// Packs `count` vectors of `depth` elements in groups of `side`, with the last group padded with zeros, so that
/// to[group][p][i] = from[(group·side + i)·across + p·along].
template <class Sum, class E>
inline void pack(E const* from, std::int64_t count, std::int64_t depth, std::int64_t across, std::int64_t along,
                 std::int64_t side, Sum* to) {
  for (std::int64_t group = 0; group < count; group += side) {
    std::int64_t const here = std::min(side, count - group);
    E const* const source = from + group * across;
    for (std::int64_t p = 0; p < depth; ++p, to += side) {
      std::int64_t i = 0;
      for (; i < here; ++i) to[i] = number_of_element<Sum>(source[i * across + p * along]);
      for (; i < side; ++i) to[i] = Sum(0);
    }
  }
}

}  // namespace detail

/// A matrix product by our own loops.
class matmul_loops {
  template <class F>
  auto with_sum(F const& f) const {
    switch (sum_type_) {
      case dtype::f64: return f.template operator()<double>();
      case dtype::f32: return f.template operator()<float>();
      default: return f.template operator()<std::int64_t>();
    }
  }

 public:
  matmul_loops() = default;
  explicit matmul_loops(matmul_problem const& problem) : p_(problem) {
    bool const any_f64 = p_.a.type == dtype::f64 || p_.b.type == dtype::f64 || p_.c.type == dtype::f64;
    sum_type_ = any_f64 ? dtype::f64 : is_float(p_.c.type) ? dtype::f32 : dtype::i64;
  }

  std::size_t workspace_bytes() const {
    return with_sum([&]<class Sum>() { return static_cast<std::size_t>(sizes<Sum>().total) * sizeof(Sum); });
  }

  template <class = lazy>
  void execute(void const* a, void const* b, void* c, void* workspace) const {
    with_sum([&]<class Sum>() { run<Sum>(a, b, c, static_cast<Sum*>(workspace)); });
  }

 private:
  struct block_sizes {
    std::int64_t rows, columns, depth, total;
  };
  template <class Sum>
  block_sizes sizes() const {
    using blocks = detail::matmul_blocks<Sum>;
    auto const up = [](std::int64_t x, std::int64_t to) { return (x + to - 1) / to * to; };
    block_sizes s{std::min(blocks::rows, up(p_.m, blocks::tile_rows)),
                  std::min(blocks::columns, up(p_.n, blocks::tile_columns)), std::min(blocks::depth, p_.k), 0};
    s.total = up(s.rows * s.columns + (s.rows + s.columns) * s.depth, 64);
    return s;
  }

  template <class Sum>
  void run(void const* a, void const* b, void* c, Sum* workspace) const {
    block_sizes const s = sizes<Sum>();
    for (std::int64_t item = 0; item < p_.batch_count(); ++item)
      for (std::int64_t row = 0; row < p_.m; row += s.rows)
        for (std::int64_t column = 0; column < p_.n; column += s.columns)
          block<Sum>(a, b, c, workspace, item, row, column);
  }

  /// Computes one block of C: it computes the sums over all of k in the workspace, and then writes them to C.
  template <class Sum>
  void block(void const* a, void const* b, void* c, Sum* sums, std::int64_t item, std::int64_t row,
             std::int64_t column) const {
    using blocks = detail::matmul_blocks<Sum>;
    block_sizes const s = sizes<Sum>();
    std::int64_t const rows = std::min(s.rows, p_.m - row), columns = std::min(s.columns, p_.n - column);
    Sum* const packed_a = sums + s.rows * s.columns;
    Sum* const packed_b = packed_a + s.rows * s.depth;
    std::int64_t const a_start = p_.offset(p_.a, item, p_.batch_dims) + row * p_.a.row;
    std::int64_t const b_start = p_.offset(p_.b, item, p_.batch_dims) + column * p_.b.column;
    std::int64_t const c_start = p_.offset(p_.c, item, p_.batch_dims) + row * p_.c.row + column * p_.c.column;
    std::fill_n(sums, s.rows * s.columns, Sum(0));
    for (std::int64_t start = 0; start < p_.k; start += s.depth) {
      std::int64_t const depth = std::min(s.depth, p_.k - start);
      detail::with_summed<Sum>(p_.a.type, [&]<class E>() {
        detail::pack(static_cast<E const*>(a) + a_start + start * p_.a.column, rows, depth, p_.a.row, p_.a.column,
                     blocks::tile_rows, packed_a);
      });
      detail::with_summed<Sum>(p_.b.type, [&]<class E>() {
        detail::pack(static_cast<E const*>(b) + b_start + start * p_.b.row, columns, depth, p_.b.column, p_.b.row,
                     blocks::tile_columns, packed_b);
      });
      for (std::int64_t j = 0; j < columns; j += blocks::tile_columns)
        for (std::int64_t i = 0; i < rows; i += blocks::tile_rows)
          detail::add_tile(depth, packed_a + i * depth, packed_b + j * depth, sums + i * s.columns + j, s.columns);
    }
    detail::with_summed<Sum>(p_.c.type, [&]<class E>() {
      E* const to = static_cast<E*>(c) + c_start;
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
          E& element = to[i * p_.c.row + j * p_.c.column];
          Sum const sum = sums[i * s.columns + j];
          element = detail::element_of<E>(p_.accumulate ? detail::number_of_element<Sum>(element) + sum : sum);
        }
    });
  }

  matmul_problem p_;
  dtype sum_type_ = dtype::f32;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

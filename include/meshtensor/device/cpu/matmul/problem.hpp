// SPDX-License-Identifier: Apache-2.0
// Describes a batched matrix product C[batch…, m, n] (+)= A[batch…, m, k] · B[batch…, k, n] with any strides. It also
// flattens such a product as far as possible, and splits it for threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/dtype.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

inline constexpr int max_batch_dims = 6;

/// The memory layout of one matrix or of a batch of matrices. Strides count elements, and a batch stride of 0 repeats
/// the matrix.
struct matmul_operand {
  dtype type = dtype::f32;
  std::int64_t row = 0, column = 0;  // strides from row to row and from column to column
  std::int64_t batch[max_batch_dims] = {};

  void transpose() { std::swap(row, column); }
};

struct matmul_problem {
  std::int64_t m = 0, n = 0, k = 0;
  int batch_dims = 0;
  std::int64_t batch[max_batch_dims] = {};
  matmul_operand a, b, c;
  bool accumulate = false;  // C += A·B
  bool swapped = false;     // set by flattened() if a is the caller's B

  std::int64_t batch_count() const {
    std::int64_t count = 1;
    for (int i = 0; i < batch_dims; ++i) count *= batch[i];
    return count;
  }
  bool empty() const { return m == 0 || n == 0 || batch_count() == 0; }

  /// The offset of matrix number `index` of an operand. `index` counts over the first `dims` batch dims, and the last
  /// of them varies fastest.
  std::int64_t offset(matmul_operand const& x, std::int64_t index, int dims) const {
    std::int64_t result = 0;
    for (int i = dims - 1; i >= 0; --i) result += index % batch[i] * x.batch[i], index /= batch[i];
    return result;
  }
};

namespace detail {
inline void drop_batch_dim(matmul_problem& p, int at) {
  --p.batch_dims;
  for (int i = at; i < p.batch_dims; ++i) {
    p.batch[i] = p.batch[i + 1];
    for (matmul_operand* x : {&p.a, &p.b, &p.c}) x->batch[i] = x->batch[i + 1];
  }
}

/// Whether a batch dim continues a dim of this step and extent, so that both have one common stride.
inline bool continues(std::int64_t step, std::int64_t extent, std::int64_t batch_stride) {
  return batch_stride == step * extent;
}
}  // namespace detail

/// Returns the same product in a simpler form. If C has a contiguous direction, its column stride becomes 1. Adjacent
/// batch dims are merged if all operands allow it. A batch dim along which one operand repeats becomes rows or columns
/// of the other operand.
inline matmul_problem flattened(matmul_problem p) {
  if (p.empty()) return p;
  if (p.c.column != 1 && p.c.row == 1) {  // Cᵀ = Bᵀ·Aᵀ
    std::swap(p.m, p.n);
    std::swap(p.a, p.b);
    p.swapped = !p.swapped;
    for (matmul_operand* x : {&p.a, &p.b, &p.c}) x->transpose();
  }
  for (int i = p.batch_dims; i-- > 0;)
    if (p.batch[i] == 1) detail::drop_batch_dim(p, i);
  for (int i = p.batch_dims - 1; i-- > 0;) {
    bool merge = true;
    for (matmul_operand const* x : {&p.a, &p.b, &p.c})
      merge = merge && detail::continues(x->batch[i + 1], p.batch[i + 1], x->batch[i]);
    if (!merge) continue;
    p.batch[i + 1] *= p.batch[i];
    detail::drop_batch_dim(p, i);
  }
  for (int i = p.batch_dims; i-- > 0;) {
    if (p.b.batch[i] == 0 && detail::continues(p.a.row, p.m, p.a.batch[i]) &&
        detail::continues(p.c.row, p.m, p.c.batch[i])) {
      p.m *= p.batch[i];
      detail::drop_batch_dim(p, i);
    } else if (p.a.batch[i] == 0 && detail::continues(p.b.column, p.n, p.b.batch[i]) &&
               detail::continues(p.c.column, p.n, p.c.batch[i])) {
      p.n *= p.batch[i];
      detail::drop_batch_dim(p, i);
    }
  }
  return p;
}

/// One thread's part of a product: some matrices of a batch dim, some rows or some columns. The offsets of the operands
/// count elements.
struct matmul_part {
  matmul_problem problem;
  std::int64_t a = 0, b = 0, c = 0;
};

/// Splits a flat product into at most `threads` parts. There are fewer parts if they would otherwise be too small to be
/// worth a thread. Sums over k are never split.
inline std::vector<matmul_part> parts_of(matmul_problem const& p, int threads) {
  constexpr double worth_a_thread = 1 << 19;  // multiplications, which take about ten microseconds
  constexpr double fetched = 16;              // multiplications in the time of one load from memory
  auto const number = [](std::int64_t x) { return static_cast<double>(x); };
  std::int64_t const depth = std::max<std::int64_t>(1, p.k);
  double const made = number(p.m) * number(p.n) * number(depth);
  double const read = number(p.m) * number(depth) + number(depth) * number(p.n) + number(p.m) * number(p.n);
  double const work = number(p.batch_count()) * (made + fetched * read);
  auto const wanted = static_cast<std::int64_t>(std::min<double>(threads, work / worth_a_thread));
  if (wanted <= 1) return {{p}};
  // Splits the longest batch dim if all threads get about equal work. Otherwise, it splits the longer side of the
  // matrices, in whole registers.
  int longest = -1;
  for (int i = 0; i < p.batch_dims; ++i)
    if (longest < 0 || p.batch[i] > p.batch[longest]) longest = i;
  bool const by_batch = longest >= 0 && (p.batch[longest] % wanted == 0 || p.batch[longest] >= 4 * wanted);
  bool const by_rows = !by_batch && p.m >= p.n;
  std::int64_t const grain = by_batch ? 1 : 16;
  std::int64_t const extent = by_batch ? p.batch[longest] : by_rows ? p.m : p.n;
  std::int64_t const grains = (extent + grain - 1) / grain, count = std::min(wanted, grains);
  std::vector<matmul_part> parts;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t const first = grains * i / count * grain, last = std::min(extent, grains * (i + 1) / count * grain);
    matmul_part part{p};
    if (by_batch) {
      part.problem.batch[longest] = last - first;
      part.a = first * p.a.batch[longest], part.b = first * p.b.batch[longest], part.c = first * p.c.batch[longest];
    } else if (by_rows) {
      part.problem.m = last - first;
      part.a = first * p.a.row, part.c = first * p.c.row;
    } else {
      part.problem.n = last - first;
      part.b = first * p.b.column, part.c = first * p.c.column;
    }
    parts.push_back(part);
  }
  return parts;
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

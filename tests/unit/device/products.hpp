// SPDX-License-Identifier: Apache-2.0
// Matrix products for tests: operands in memory of exactly the size that their strides span, and the plain product.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "meshtensor/base/memory.hpp"
#include "meshtensor/device/cpu/matmul/problem.hpp"

namespace products {

namespace mt = meshtensor;
using mt::dtype;
using mt::cpu::matmul_operand;
using mt::cpu::matmul_problem;

inline matmul_operand matrix(dtype type, std::int64_t row, std::int64_t column,
                             std::initializer_list<std::int64_t> batch = {}) {
  matmul_operand x{type, row, column, {}};
  int i = 0;
  for (auto stride : batch) x.batch[i++] = stride;
  return x;
}

/// Row-major operands of one type; `transposed` holds letters of those that lie by columns.
inline matmul_problem plain(std::int64_t m, std::int64_t n, std::int64_t k, dtype type,
                            std::string const& transposed = "") {
  auto const lies = [&](char letter, std::int64_t rows, std::int64_t columns) {
    return transposed.find(letter) == std::string::npos ? matrix(type, columns, 1) : matrix(type, 1, rows);
  };
  matmul_problem p;
  p.m = m, p.n = n, p.k = k;
  p.a = lies('a', m, k), p.b = lies('b', k, n), p.c = lies('c', m, n);
  return p;
}

/// Adds batch dims with the strides of a stack of whole matrices.
inline matmul_problem stacked(matmul_problem p, std::initializer_list<std::int64_t> batch) {
  for (auto extent : batch) p.batch[p.batch_dims++] = extent;
  std::int64_t a = p.m * p.k, b = p.k * p.n, c = p.m * p.n;
  for (int i = p.batch_dims; i-- > 0; a *= p.batch[i], b *= p.batch[i], c *= p.batch[i])
    p.a.batch[i] = a, p.b.batch[i] = b, p.c.batch[i] = c;
  return p;
}

/// The elements of one operand as doubles, in a block with nothing behind it.
struct block {
  block(matmul_problem const& p, matmul_operand const& x, std::int64_t rows, std::int64_t columns, int seed)
      : type(x.type) {
    std::int64_t last = (rows - 1) * x.row + (columns - 1) * x.column;
    for (int i = 0; i < p.batch_dims; ++i) last += (p.batch[i] - 1) * x.batch[i];
    count = rows == 0 || columns == 0 ? 0 : last + 1;
    bytes.reset(new unsigned char[static_cast<std::size_t>(count) * mt::bytes_of(type) + 1]);
    for (std::int64_t i = 0; i < count; ++i) {
      double const x01 = std::sin(static_cast<double>(i * 7 + seed) * 12.9898);  // arbitrary, in [-1, 1]
      set(i, mt::is_float(type)                            ? x01
             : type == dtype::u8 || type == dtype::boolean ? double(i % 3 == 0)
                                                           : std::floor(x01 * 9));
    }
  }
  void set(std::int64_t i, double value) {
    mt::with_element(type, [&]<class E>() {
      if constexpr (std::is_same_v<E, mt::bf16_t>) {
        reinterpret_cast<E*>(bytes.get())[i] = static_cast<float>(value);
      } else {
        reinterpret_cast<E*>(bytes.get())[i] = static_cast<E>(value);
      }
    });
  }
  double get(std::int64_t i) const {
    return mt::with_element(type, [&]<class E>() -> double {
      if constexpr (std::is_same_v<E, mt::bf16_t>) {
        return float{reinterpret_cast<E const*>(bytes.get())[i]};
      } else {
        return static_cast<double>(reinterpret_cast<E const*>(bytes.get())[i]);
      }
    });
  }
  std::vector<double> all() const {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = get(i);
    return values;
  }
  std::size_t size_bytes() const { return static_cast<std::size_t>(count) * mt::bytes_of(type); }
  bool operator==(block const& other) const { return std::memcmp(bytes.get(), other.bytes.get(), size_bytes()) == 0; }

  dtype type;
  std::int64_t count;
  std::unique_ptr<unsigned char[]> bytes;
};

struct operands {
  explicit operands(matmul_problem const& p) : a(p, p.a, p.m, p.k, 1), b(p, p.b, p.k, p.n, 2), c(p, p.c, p.m, p.n, 3) {}
  block a, b, c;
};

/// Calls f(matrix offsets a, b, c) for every matrix of the batch.
template <class F>
void each_matrix(matmul_problem const& p, F const& f) {
  for (std::int64_t i = 0; i < p.batch_count(); ++i)
    f(p.offset(p.a, i, p.batch_dims), p.offset(p.b, i, p.batch_dims), p.offset(p.c, i, p.batch_dims));
}

#if defined(__GNUC__) && !defined(__clang__)  // most of a test's time is spent here, and the rest is compiled at -O0
#  pragma GCC push_options
#  pragma GCC optimize("O2")
#endif
/// How many elements of `got` are wrong: beyond the error that k roundings of the type of the sums allow, or changed
/// although no result.
inline int wrong_elements(matmul_problem const& p, operands const& before, block const& got) {
  int wrong = 0;
  std::vector<bool> is_result(static_cast<std::size_t>(got.count));
  double const step = got.type == dtype::f64 ? 0x1p-52 : mt::is_float(got.type) ? 0x1p-23 : 0;
  std::vector<double> const all_a = before.a.all(), all_b = before.b.all();
  each_matrix(p, [&](std::int64_t a, std::int64_t b, std::int64_t c) {
    for (std::int64_t i = 0; i < p.m; ++i)
      for (std::int64_t j = 0; j < p.n; ++j) {
        auto const at = c + i * p.c.row + j * p.c.column;
        double sum = p.accumulate ? before.c.get(at) : 0, size = std::fabs(sum);
        double const *const row = all_a.data() + a + i * p.a.row, *const column = all_b.data() + b + j * p.b.column;
        for (std::int64_t q = 0; q < p.k; ++q) {
          double const x = row[q * p.a.column] * column[q * p.b.row];
          sum += x, size += std::fabs(x);
        }
        if (got.type == dtype::boolean) sum = sum != 0;
        if (got.type == dtype::u8) sum = std::fmod(sum, 256);
        double const bound =
            static_cast<double>(p.k + 2) * step * size + (got.type == dtype::bf16 ? 0x1p-8 * std::abs(sum) : 0);
        wrong += !(std::abs(got.get(at) - sum) <= bound);
        is_result[static_cast<std::size_t>(at)] = true;
      }
  });
  for (std::int64_t i = 0; i < got.count; ++i)
    wrong += !is_result[static_cast<std::size_t>(i)] && got.get(i) != before.c.get(i);
  return wrong;
}
#if defined(__GNUC__) && !defined(__clang__)
#  pragma GCC pop_options
#endif

/// A workspace that notices writes behind its end.
struct guarded_workspace {
  explicit guarded_workspace(std::size_t bytes) : memory(bytes + 64), end(bytes) {
    std::memset(memory.data() + end, 0x5a, 64);
  }
  bool intact() const {
    for (std::size_t i = end; i < end + 64; ++i)
      if (memory.data()[i] != std::byte{0x5a}) return false;
    return true;
  }
  mt::arena memory;
  std::size_t end;
};

/// Products that between them have every form: strides, batches, sizes that no block divides.
inline std::vector<matmul_problem> forms(dtype type) {
  std::vector<matmul_problem> all;
  for (auto const& transposed : {"", "a", "b", "ab", "c", "ac", "bc", "abc"})
    all.push_back(plain(17, 35, 23, type, transposed));
  for (std::int64_t m : {1, 6, 130})
    for (std::int64_t n : {1, 33, 300})
      for (std::int64_t k : {1, 64, 600}) all.push_back(plain(m, n, k, type));
  auto p = plain(9, 14, 21, type);  // blocks of larger matrices
  p.a.row = 40, p.b.row = 30, p.c.row = 20;
  all.push_back(p);
  p.a = matrix(type, 50, 2), p.b = matrix(type, 70, 3);  // no contiguous direction
  all.push_back(p);
  p = plain(9, 14, 21, type);
  p.c = matrix(type, 60, 2);
  all.push_back(p);
  all.push_back(stacked(plain(5, 19, 12, type), {7}));
  all.push_back(stacked(plain(5, 19, 12, type, "b"), {3, 2}));
  p = stacked(plain(5, 19, 12, type), {3, 2});  // one matrix for all, then for all of an inner or outer dim
  p.b.batch[0] = p.b.batch[1] = 0;
  all.push_back(p);
  p.b.batch[1] = 12 * 19;
  all.push_back(p);
  p.b.batch[0] = 12 * 19, p.b.batch[1] = 0;
  all.push_back(p);
  p = stacked(plain(5, 19, 12, type), {4});
  p.a.batch[0] = 0;
  all.push_back(p);
  // Attention: scores[batch, head, query, key] from queries and keys [batch, length, head, d_k].
  p = matmul_problem{};
  p.m = 10, p.n = 11, p.k = 8, p.batch_dims = 2, p.batch[0] = 2, p.batch[1] = 3;
  p.a = matrix(type, 24, 1, {240, 8}), p.b = matrix(type, 1, 24, {264, 8}), p.c = matrix(type, 11, 1, {330, 110});
  all.push_back(p);
  // …and [batch, length, head, d_k] from weights and values.
  p.n = 8, p.k = 11;
  p.a = matrix(type, 11, 1, {330, 110}), p.b = matrix(type, 24, 1, {264, 8}), p.c = matrix(type, 24, 1, {240, 8});
  all.push_back(p);
  p = stacked(plain(3, 4, 5, type), {2, 2, 2});  // three batch dims that cannot merge
  std::swap(p.a.batch[0], p.a.batch[2]);
  std::swap(p.b.batch[1], p.b.batch[2]);
  all.push_back(p);
  return all;
}

}  // namespace products

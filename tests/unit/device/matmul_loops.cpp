// SPDX-License-Identifier: Apache-2.0
// Our own product: each element is a sum in ascending order, in runs of 256 terms, to the bit, for every form and type.
// arch: baseline native
// optimize: 2
#include "meshtensor/device/cpu/matmul/loops.hpp"

#include <doctest/doctest.h>

#include "meshtensor/base/lane.hpp"
#include "unit/device/products.hpp"

using namespace products;
namespace cpu = mt::cpu;

namespace {

block made(matmul_problem const& p, bool flat = false) {
  operands x(p);
  auto const used = flat ? flattened(p) : p;
  cpu::matmul_loops const loops(used);
  guarded_workspace workspace(loops.workspace_bytes());
  if (used.swapped) std::swap(x.a, x.b);
  loops.execute(x.a.bytes.get(), x.b.bytes.get(), x.c.bytes.get(), workspace.memory.data());
  CHECK(workspace.intact());
  return std::move(x.c);
}

template <class Sum>
block in_order(matmul_problem const& p) {
  operands x(p);
  each_matrix(p, [&](std::int64_t a, std::int64_t b, std::int64_t c) {
    for (std::int64_t i = 0; i < p.m; ++i)
      for (std::int64_t j = 0; j < p.n; ++j) {
        Sum sum = 0, run = 0;
        for (std::int64_t q = 0; q < p.k; ++q) {
          run = mt::math::fma(static_cast<Sum>(x.a.get(a + i * p.a.row + q * p.a.column)),
                              static_cast<Sum>(x.b.get(b + q * p.b.row + j * p.b.column)), run);
          if (q % 256 == 255 || q + 1 == p.k) sum += run, run = 0;
        }
        auto const at = c + i * p.c.row + j * p.c.column;
        x.c.set(at, p.accumulate ? static_cast<Sum>(x.c.get(at)) + sum : sum);
      }
  });
  return std::move(x.c);
}

}  // namespace

TEST_CASE("to the bit as the plain loops") {
  for (auto p : forms(dtype::f32))
    for (bool accumulate : {false, true}) {
      p.accumulate = accumulate;
      CHECK(made(p) == in_order<float>(p));
      CHECK(made(p, true) == in_order<float>(p));
    }
  for (auto p : forms(dtype::f64)) CHECK(made(p) == in_order<double>(p));
  for (auto p : forms(dtype::bf16)) {
    CHECK(made(p) == in_order<float>(p));
    p.c.type = dtype::f32;
    CHECK(made(p) == in_order<float>(p));
  }
}

TEST_CASE("within the bounds of the exact product") {
  for (auto type : {dtype::f32, dtype::f64, dtype::bf16, dtype::i32, dtype::i64, dtype::u8, dtype::boolean})
    for (auto const& p : forms(type)) CHECK(wrong_elements(p, operands(p), made(p)) == 0);
}

TEST_CASE("nothing to sum, nothing to make") {
  auto p = plain(3, 4, 0, dtype::f32);
  auto const zero = made(p);
  for (std::int64_t i = 0; i < zero.count; ++i) CHECK(zero.get(i) == 0);
  p.accumulate = true;
  CHECK(made(p) == operands(p).c);
  CHECK(plain(0, 4, 2, dtype::f32).empty());
  CHECK(stacked(plain(1, 4, 2, dtype::f32), {0}).empty());
}

TEST_CASE("flat forms") {
  auto p = flattened(stacked(plain(5, 19, 12, dtype::f32), {3, 2, 1}));  // one stack of six
  CHECK(p.batch_dims == 1);
  CHECK(p.batch[0] == 6);
  p = stacked(plain(5, 19, 12, dtype::f32), {3, 2});
  p.b.batch[0] = p.b.batch[1] = 0;  // one matrix on the right: its rows times all rows
  p = flattened(p);
  CHECK(p.batch_dims == 0);
  CHECK(p.m == 30);
  p = flattened(plain(5, 19, 12, dtype::f32, "c"));  // the transposed product instead
  CHECK(p.m == 19);
  CHECK(p.swapped);
  CHECK(p.c.column == 1);
  auto const attention = forms(dtype::f32).at(forms(dtype::f32).size() - 3);
  CHECK(flattened(attention).batch_dims == 2);
}

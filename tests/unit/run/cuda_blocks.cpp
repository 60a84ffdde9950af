// SPDX-License-Identifier: Apache-2.0
// Kernels of mt::cuda_device in blocks of 256 threads, as a GPU has them: sums, maxima and minima over all, over rows
// and along them, of shapes that take part of a warp, whole warps and several blocks; sorts and lookups. Numbers are
// small and whole, so that no order of sums rounds them.
// passes: start-up
// sanitize: no
// timeout: 600
// part: cuda
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "meshtensor/device/cuda/device.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/gpu_of_tests.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct plane_dim : mt::dim<"plane"> {} plane;
inline constexpr struct row_dim : mt::dim<"row"> {} row;
inline constexpr struct column_dim : mt::dim<"column"> {} column;
inline constexpr struct slot_dim : mt::dim<"slot", 300> {} slot;  // more than a block has threads
struct mesh : mt::mesh<> {};
struct layout : mt::layout<> {};

template <mt::dtype Type>
struct reductions {
  constexpr void operator()(mt::scope auto s) const {
    constexpr mt::dtype_constant<Type> type;
    auto const x = s.input("x", type, plane, row, column);
    auto const y = s.input("y", type, column);
    auto const z = s.input("z", type, row);
    s.output("all", sum(x * y));
    s.output("greatest", max(x - y));
    s.output("least of products", min(x * z));
    s.output("columns", sum(x + y, plane, row));
    s.output("planes", sum(x * z, row, column));
    s.output("rows", sum(x - z, plane, column));
    s.output("middle", max(x + z, row));
    s.output("along", sum(x * y, column));
    auto const beyond = x - max(x, column);
    s.output("beyond", beyond);
    s.output("sum beyond", sum(beyond * y));
    s.output("sum of greatest", sum(max(x * y, column)));
  }
};

template <mt::dtype Type>
struct positions {
  constexpr void operator()(mt::scope auto s) const {
    constexpr mt::dtype_constant<Type> type;
    auto const x = s.input("x", type, plane, row, column);
    auto const y = s.input("y", type, column);
    auto const z = s.input("z", type, row);
    auto const at = s.input("at", mt::i64, plane, row);
    s.output("greatest", argmax(x + y, column));
    s.output("middle", argmax(x + z, row));
    s.output("order", argsort(x, column));
    s.output("so far", cumulative_sum(x + y, column));
    auto const counted = scatter_add(x, at, slot, to(plane, slot, column));
    s.output("added", counted);
    s.output("put", put(counted, x, slot, at));
    s.output("looked up", gather(counted, at, slot));
  }
};

using numbers = std::vector<std::vector<double>>;

template <class Result>
void keep(numbers& all, Result const& output) {
  auto& to = all.emplace_back();
  if constexpr (requires { output.gather(); })
    for (auto e : output.gather()) to.push_back(static_cast<double>(e));
  else to.push_back(static_cast<double>(output));
}
template <mt::name... Labels>
void keep_each(numbers& all, auto const& result) {
  (keep(all, result.template get<Labels>()), ...);
}

template <mt::dtype Type, class Device>
numbers results_of(std::int64_t planes, std::int64_t rows, std::int64_t columns) {
  using element = mt::element_t<Type>;
  auto const many = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  std::vector<element> x(many(planes * rows * columns)), y(many(columns)), z(many(rows));
  std::vector<std::int64_t> at(many(planes * rows));
  std::uint32_t state = 11;
  auto const draw = [&] { return state = state * 1664525u + 1013904223u; };
  for (auto* all : {&x, &y, &z})
    for (element& e : *all) e = static_cast<element>(static_cast<float>(draw() >> 30));
  for (std::int64_t& e : at) e = draw() % 7 == 0 ? 299 : static_cast<std::int64_t>(draw() >> 8) % 305 - 2;
  mt::job const job = mt::job::in_lockstep();
  mt::store store(job);
  mt::executable<reductions<Type>, mesh, layout, Device> reduce(store, plane(planes), row(rows), column(columns));
  mt::executable<positions<Type>, mesh, layout, Device> find(store, plane(planes), row(rows), column(columns));
  numbers all;
  for (unsigned const order : {0u, 1u, 77u}) {
    if (auto* const host = dynamic_cast<meshtensor_test::host_gpu*>(mt::cuda::given_gpu())) host->order = order;
    keep_each<"all", "greatest", "least of products", "columns", "planes", "rows", "middle", "along", "beyond",
              "sum beyond", "sum of greatest">(all, reduce(mt::feed<"x">(x), mt::feed<"y">(y), mt::feed<"z">(z)));
    keep_each<"greatest", "middle", "order", "so far", "added", "put", "looked up">(
        all, find(mt::feed<"x">(x), mt::feed<"y">(y), mt::feed<"z">(z), mt::feed<"at">(at)));
  }
  return all;
}

/// The largest error of sums of equal numbers, in log2(n) · eps · Σ|x|: along rows, over them, over everything, of a
/// cumulative sum and of scattered rows.
struct long_sums {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, row, column);
    auto const at = s.input("at", mt::i64, row);
    s.output("all", sum(x));
    s.output("columns", sum(x, row));
    s.output("rows", sum(x, column));
    s.output("product", einsum(x, to(column)));
    s.output("so far", max(cumulative_sum(x, row), row));
    s.output("added", max(scatter_add(x, at, slot, to(slot, column)), slot));
  }
};
double largest_error(std::int64_t rows, std::int64_t columns) {
  meshtensor_test::gpu_of_tests const here(256);
  mt::job const job = mt::job::in_lockstep();
  mt::store store(job);
  mt::executable<long_sums, mesh, layout, mt::cuda_device> step(store, row(rows), column(columns));
  std::vector<float> const x(static_cast<std::size_t>(rows * columns), 0.1f);
  numbers all;
  keep_each<"all", "columns", "rows", "product", "so far", "added">(
      all, step(mt::feed<"x">(x), mt::feed<"at">(std::vector<std::int64_t>(static_cast<std::size_t>(rows), 5))));
  double worst = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    double const n = static_cast<double>(i == 0 ? rows * columns : i == 2 ? columns : rows), exact = n * double(0.1f);
    for (double v : all[i]) worst = std::max(worst, std::abs(v - exact) / (std::log2(n) * 0x1p-23 * exact));
  }
  return worst;
}

template <mt::dtype Type>
void compare(std::int64_t planes, std::int64_t rows, std::int64_t columns) {
  CAPTURE(planes);
  CAPTURE(rows);
  CAPTURE(columns);
  auto const right = results_of<Type, mt::reference_device>(planes, rows, columns);
  meshtensor_test::gpu_of_tests const here(256);
  auto const got = results_of<Type, mt::cuda_device>(planes, rows, columns);
  REQUIRE(right.size() == got.size());
  for (std::size_t i = 0; i < right.size(); ++i) {
    CAPTURE(i);
    CHECK(right[i] == got[i]);
  }
}

}  // namespace

TEST_CASE("rows of part of a warp") {
  compare<mt::dtype::f32>(2, 7, 3);
  compare<mt::dtype::i32>(3, 50, 17);
}
TEST_CASE("rows of several warps") {
  compare<mt::dtype::f32>(2, 40, 33);
  compare<mt::dtype::f64>(1, 30, 64);
  compare<mt::dtype::i64>(3, 9, 100);
}
TEST_CASE("rows of several blocks") {
  compare<mt::dtype::f32>(1, 5, 700);
  compare<mt::dtype::i32>(2, 3, 1500);
}
TEST_CASE("long sums keep their digits") {
  CHECK(largest_error(60000, 3) < 3.2);
  CHECK(largest_error(3, 60000) < 3.2);
  CHECK(largest_error(300, 500) < 3.2);
}

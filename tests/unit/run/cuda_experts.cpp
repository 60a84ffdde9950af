// SPDX-License-Identifier: Apache-2.0
// Layers of experts that drop no token, on mt::cuda_device: rows go to the holders of their experts and come back, with
// the losses and parameters of plain loops, and of groups in every place that grouped_einsum knows.
// passes: start-up
// part: cuda
#include <doctest/doctest.h>

#include "meshtensor/device/cuda/device.hpp"
#include "support/gpu_of_tests.hpp"
#include "support/layers_of_experts.hpp"

using namespace layers_of_experts;

namespace {

using mt::to;

constexpr int steps = 6;

template <class Device>
std::vector<double> losses(int processors) {
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job, 3);
  executable<Device> step(weights, data(processors));
  CHECK(exchanges_rows(step.graph()));
  std::vector<double> all;
  for (int i = 0; i < steps; ++i) all.push_back(one_step(step, i));
  for (auto const& [name, value] : weights.values())
    if (name.ends_with("/weight"))
      for (double v : weights.template get<double>(name)) all.push_back(v);
  return all;
}
double farthest(std::vector<double> const& a, std::vector<double> const& b) {
  double far = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) far = std::max(far, std::abs(a[i] - b[i]));
  return far;
}

/// More rows than one chunk of the sort has; some have no group, and some groups have no row.
inline constexpr struct row_dim : mt::dim<"row", 150> {} row;
inline constexpr struct many_dim : mt::dim<"many", 2> {} many;
inline constexpr struct from_dim : mt::dim<"from", 5> {} from;
inline constexpr struct into_dim : mt::dim<"into", 3> {} into;
inline constexpr struct group_dim : mt::dim<"group", 8> {} group;
struct one : mt::mesh<data> {};
struct by_rows : mt::layout<mt::shard<row, data>> {};
struct by_groups : mt::layout<mt::shard<group, data>> {};

template <mt::dtype Type>
struct products_of_groups {
  constexpr void operator()(mt::scope auto s) const {
    constexpr mt::dtype_constant<Type> type{};
    auto const x = s.input("x", type, row, from);
    auto const y = s.input("y", type, row, into);
    auto const w = s.input("w", type, group, from, into);
    auto const index = s.input("index", mt::i32, row);
    auto const two = s.input("two", mt::i64, row, many);
    auto const of_each = s.input("of each", type, row, group);
    s.output("rows", grouped_einsum(x, w, index, group, to(row, into)));
    s.output("columns", grouped_einsum(w, x, index, group, to(into, row)));
    s.output("summed", grouped_einsum(x, w, two, group, to(row, into)));
    s.output("groups", grouped_einsum(x, y, index, group, to(group, from, into)));
    s.output("groups last", grouped_einsum(x, y, two, group, to(from, group, into)));
    s.output("kept", grouped_einsum(x, y, two, group, to(row, group)));
    s.output("each", grouped_einsum(of_each, y, index, group, to(row, into)));
  }
};

template <class Device, mt::dtype Type, class Layout>
std::vector<double> values(int processors) {
  using element = mt::element_t<Type>;
  mt::job const job = mt::job::in_lockstep();
  mt::store store(job);
  mt::executable<products_of_groups<Type>, one, Layout, Device> step(store, data(processors));
  auto const draw = [](std::size_t n, int pace) {
    std::vector<element> all;
    for (std::size_t i = 0; i < n; ++i)
      all.push_back(static_cast<element>(static_cast<float>(static_cast<int>(i * i) * pace % 17 - 8)));
    return all;
  };
  std::vector<std::int32_t> index;
  std::vector<std::int64_t> two;
  for (int i = 0; i < 150; ++i) index.push_back((i * i / 3) % 11 - 2);  // 5 comes, 3 does not
  for (int i = 0; i < 300; ++i) two.push_back(i * 7 % 13 - 2);
  auto const x = draw(750, 3), y = draw(450, 5), w = draw(120, 7), each = draw(1200, 11);
  auto const result = step(mt::feed<"x">(x), mt::feed<"y">(y), mt::feed<"w">(w), mt::feed<"index">(index),
                           mt::feed<"two">(two), mt::feed<"of each">(each));
  std::vector<double> all;
  auto const keep = [&](auto const& output) {
    for (auto e : output) all.push_back(static_cast<double>(e));
  };
  keep(result.template get<"rows">().gather());
  keep(result.template get<"columns">().gather());
  keep(result.template get<"summed">().gather());
  keep(result.template get<"groups">().gather());
  keep(result.template get<"groups last">().gather());
  keep(result.template get<"kept">().gather());
  keep(result.template get<"each">().gather());
  return all;
}
template <mt::dtype Type, class Layout>
void compare(int processors) {  // small whole numbers: sums are exact in any order
  auto const wanted = values<mt::reference_device, Type, Layout>(processors);
  CHECK(farthest(wanted, values<mt::cuda_device, Type, Layout>(processors)) == 0);
  CHECK(*std::max_element(wanted.begin(), wanted.end()) > 100);
}

}  // namespace

TEST_CASE("losses and parameters on one to six processors") {
  meshtensor_test::gpu_of_tests const here;
  for (int processors : {1, 2, 3, 6}) {
    CAPTURE(processors);
    auto const wanted = losses<mt::reference_device>(processors);
    // Plain loops round each sum once, and the threads of a GPU more often.
    CHECK(farthest(losses<mt::cuda_device>(processors), wanted) < 4e-12);
    CHECK(wanted[steps - 1] < wanted[0]);
    CHECK(wanted.size() == steps + 4 * 6 * 6 * 4);
  }
}

TEST_CASE("products of groups, whatever has the groups") {
  meshtensor_test::gpu_of_tests const here;
  compare<mt::dtype::f64, by_rows>(1);
  compare<mt::dtype::f64, by_rows>(3);
  compare<mt::dtype::f64, by_groups>(2);
  compare<mt::dtype::i32, by_groups>(4);
  compare<mt::dtype::f32, by_rows>(2);
}

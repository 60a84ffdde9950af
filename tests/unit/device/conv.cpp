// SPDX-License-Identifier: Apache-2.0
// conv on the cpu device: what plain loops give, of several kinds of dims in memory, with its gradients; alone and in
// parts.
// passes: start-up
// needs: cpu
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "meshtensor/device/default.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace {

using mt::to;
inline constexpr struct batch_dim : mt::dim<"batch"> {} batch;
inline constexpr struct rows_dim : mt::dim<"rows"> {} rows;
inline constexpr struct columns_dim : mt::dim<"columns", 10> {} columns;
inline constexpr struct rows_2_dim : mt::dim<"rows_2", mt::divided(rows, 2)> {} rows_2;
inline constexpr struct columns_2_dim : mt::dim<"columns_2", mt::windowed(columns, 2, 1, 3, 0, 1)> {} columns_2;
inline constexpr struct k_rows_dim : mt::dim<"k_rows", 3> {} k_rows;
inline constexpr struct k_columns_dim : mt::dim<"k_columns", 2> {} k_columns;
inline constexpr struct groups_dim : mt::dim<"groups", 2> {} groups;
inline constexpr struct in_dim : mt::dim<"in", 3> {} in;
inline constexpr struct out_dim : mt::dim<"out", 18> {} out;
inline constexpr struct more_dim : mt::dim<"more", 2> {} more;
inline constexpr struct parts_axis : mt::axis<"parts"> {} parts;
struct mesh : mt::mesh<parts> {};
struct by_rows : mt::layout<mt::shard<rows, parts>> {};

template <mt::dtype Type>
struct layer {
  constexpr void operator()(mt::scope auto s) const {
    constexpr mt::dtype_constant<Type> type;
    auto x = s.input("x", type, batch, rows, columns, in);
    auto k = s.input("k", type, k_rows, k_columns, in, out);
    auto down = mt::window(rows, rows_2, k_rows, {.stride = 2, .padding = mt::same_padding});
    auto beside = mt::window(columns, columns_2, k_columns, {.dilation = 3, .padding = {0, 1}});
    auto y = conv(x, k, to(batch, rows_2, columns_2, out), down, beside);
    s.output("y", y);
    s.output("first channels", conv(x, k, to(out, batch, columns_2, rows_2), down, beside));
    s.output("back", conv_transposed(y, k, to(batch, rows, columns, in), down, beside));
    auto grouped = s.input("grouped", type, batch, groups, rows, in);
    auto each = s.input("each", type, groups, in, k_rows, out);
    auto along = mt::window(rows, rows, k_rows, {.padding = mt::centred_padding});
    s.output("groups", conv(grouped, each, to(batch, rows, groups, out), along));
    s.output("depthwise", conv(grouped, sum(each, out), to(batch, groups, rows, in), along));
    s.output("of one alone", conv(grouped, s.input("alone", type, more, k_rows), to(batch, rows, more), along));
    if constexpr (mt::is_float(Type)) {
      auto const loss = sum(y * (y * 0.5 + 1));
      s.output("dx", gradient(loss, x));
      s.output("dk", gradient(loss, k));
    }
  }
};

template <class Device, mt::dtype Type>
std::map<std::string, std::vector<double>> outputs_of(int processors, std::int64_t images, std::int64_t height) {
  auto job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<layer<Type>, mesh, by_rows, Device> step(values, batch(images), rows(height), parts(processors));
  std::uint32_t state = 7;
  auto const draw = [&](std::int64_t n) {
    std::vector<mt::element_t<Type>> all;
    for (std::int64_t i = 0; i < n; ++i) {
      state = state * 1664525u + 1013904223u;
      all.push_back(static_cast<mt::element_t<Type>>(static_cast<float>(static_cast<int>(state >> 30) - 1)));
    }
    return all;
  };
  auto const x = draw(images * height * 10 * 3), k = draw(3 * 2 * 3 * 18), grouped = draw(images * 2 * height * 3),
             each = draw(2 * 3 * 3 * 18), alone = draw(2 * 3);
  auto const result = step(mt::feed<"x">(x), mt::feed<"k">(k), mt::feed<"grouped">(grouped), mt::feed<"each">(each),
                           mt::feed<"alone">(alone));
  std::map<std::string, std::vector<double>> all;
  auto const keep = [&](char const* name, auto const& output) {
    for (auto v : output) all[name].push_back(static_cast<double>(v));
  };
  keep("y", result.template get<"y">().gather());
  keep("first channels", result.template get<"first channels">().gather());
  keep("back", result.template get<"back">().gather());
  keep("groups", result.template get<"groups">().gather());
  keep("depthwise", result.template get<"depthwise">().gather());
  keep("of one alone", result.template get<"of one alone">().gather());
  if constexpr (mt::is_float(Type)) {
    keep("dx", result.template get<"dx">().gather());
    keep("dk", result.template get<"dk">().gather());
  }
  return all;
}

template <mt::dtype Type>
void check(int processors, std::int64_t images, std::int64_t height) {
  INFO(std::string(mt::text_of(Type)) << ", " << images << " images of " << height << " rows on " << processors);
  auto const wanted = outputs_of<mt::reference_device, Type>(1, images, height);
  auto const got = outputs_of<mt::default_device, Type>(processors, images, height);
  for (auto const& [name, values] : wanted) CHECK_MESSAGE(got.at(name) == values, name);
}

}  // namespace

TEST_CASE("what plain loops give") {  // of small integers: no sum is rounded
  for (int processors : {1, 2, 3, 5})
    for (std::int64_t height : {3, 8, 13}) {
      check<mt::dtype::f32>(processors, 2, height);
      check<mt::dtype::f64>(processors, 1, height);
      check<mt::dtype::i32>(processors, 1, height);
    }
  check<mt::dtype::f32>(4, 5, 33);
}

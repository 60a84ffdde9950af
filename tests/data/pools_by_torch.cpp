// SPDX-License-Identifier: Apache-2.0
// Pools and their gradients beside PyTorch's, as tests/data/pools_by_torch.py has recorded them: ties, NaN, dilation,
// ceil mode, means with and without padding.
//
// passes: start-up
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "meshtensor/meshtensor.hpp"
#include "support/source_path.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct rows_dim : mt::dim<"rows", 6> {} rows;
inline constexpr struct columns_dim : mt::dim<"columns", 5> {} columns;
inline constexpr struct rows_3_dim : mt::dim<"rows_3", 3> {} rows_3;
inline constexpr struct columns_3_dim : mt::dim<"columns_3", mt::divided(columns, 2)> {} columns_3;
inline constexpr struct columns_4_dim : mt::dim<"columns_4", 4> {} columns_4;
inline constexpr struct parts_axis : mt::axis<"parts", 1> {} parts;
struct mesh : mt::mesh<parts> {};
struct alone : mt::layout<> {};

struct pools {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f64, rows, columns);
    auto w = s.input("w", mt::f64, rows_3, columns_3);
    auto all = s.input("all", mt::f64, rows, columns);
    auto down = mt::window(rows, rows_3, 3, {.stride = 2, .padding = {1, 1}});
    auto aside = mt::window(columns, columns_3, 3, {.stride = 2, .padding = {1, 1}});
    auto y = max_pool(x, down, aside);
    s.output("max", y), s.output("max_gradient", gradient(sum(y * w), x));
    // ceil mode: padding behind, as much as the last window overhangs
    auto c = max_pool(x, mt::window(rows, rows_3, 3, {.stride = 2, .padding = {0, 1}}),
                      mt::window(columns, columns_3, 2, {.stride = 2, .padding = {0, 1}}));
    s.output("max_ceil", c), s.output("max_ceil_gradient", gradient(sum(c * w), x));
    auto d = max_pool(x, mt::window(rows, rows, 2, {.dilation = 2, .padding = {1, 1}}),
                      mt::window(columns, columns, 2, {.dilation = 2, .padding = {1, 1}}));
    s.output("max_dilated", d), s.output("max_dilated_gradient", gradient(sum(d * all), x));
    // the first of equals is that of the first row, then of the first column
    auto q = s.input("equals", mt::f64, rows, columns);
    auto f = max_pool(q, down, mt::window(columns, columns_4, 2));
    s.output("max_of_equals_gradient", gradient(sum(f * s.input("v", mt::f64, rows_3, columns_4)), q));
    s.output("max_nan", max_pool(s.input("with_nan", mt::f64, rows, columns), down, aside));
    auto m = mean_pool(x, down, aside);
    s.output("mean", m), s.output("mean_gradient", gradient(sum(m * w), x));
    auto e = mean_pool(x, down, aside, mt::mean_over::elements);
    s.output("mean_of_elements", e), s.output("mean_of_elements_gradient", gradient(sum(e * w), x));
    auto t = mean_pool(x, mt::window(rows, rows_3, 2, {.stride = 2}),
                       mt::window(columns, columns_3, 2, {.stride = 2, .padding = {0, 1}}), mt::mean_over::elements);
    s.output("mean_ceil", t), s.output("mean_ceil_gradient", gradient(sum(t * w), x));
  }
};

using numbers = std::vector<double>;

std::map<std::string, numbers> recorded() {
  std::ifstream file(meshtensor_test::source_path(__FILE__).replace_extension(".txt"));
  std::map<std::string, numbers> all;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, word;
    words >> name;
    while (name != "#" && words >> word) all[name].push_back(std::stod(word));
  }
  return all;
}

numbers counted(int n) {
  numbers all;
  for (int i = 0; i < n; ++i) all.push_back(i + 1);
  return all;
}

}  // namespace

TEST_CASE("pools give what PyTorch's give") {
  auto const wanted = recorded();
  REQUIRE(wanted.size() == 14);
  numbers x, equals;
  for (int i = 0; i < 30; ++i) x.push_back((i * 7 + 3) % 11 - 5), equals.push_back((i / 5 + i % 5) % 4);
  numbers with_nan = x;
  with_nan[11] = std::numeric_limits<double>::quiet_NaN();
  mt::job const job = mt::job::as_threads();
  mt::store values(job);
  mt::executable<pools, mesh, alone, mt::reference_device> step(values);
  auto const result = step(mt::feed<"x">(x), mt::feed<"with_nan">(with_nan), mt::feed<"w">(counted(9)),
                           mt::feed<"all">(counted(30)), mt::feed<"equals">(equals), mt::feed<"v">(counted(12)));
  auto const check = [&](char const* name, auto const& output) {
    INFO(std::string(name));
    auto const gathered = output.gather();
    numbers const got(gathered.begin(), gathered.end()), &expected = wanted.at(name);
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      INFO("element " << i);
      if (std::isnan(expected[i])) CHECK(std::isnan(got[i]));
      else CHECK(got[i] == doctest::Approx(expected[i]).epsilon(1e-12));
    }
  };
  check("max", result.get<"max">());
  check("max_gradient", result.get<"max_gradient">());
  check("max_ceil", result.get<"max_ceil">());
  check("max_ceil_gradient", result.get<"max_ceil_gradient">());
  check("max_dilated", result.get<"max_dilated">());
  check("max_dilated_gradient", result.get<"max_dilated_gradient">());
  check("max_of_equals_gradient", result.get<"max_of_equals_gradient">());
  check("max_nan", result.get<"max_nan">());
  check("mean", result.get<"mean">());
  check("mean_gradient", result.get<"mean_gradient">());
  check("mean_of_elements", result.get<"mean_of_elements">());
  check("mean_of_elements_gradient", result.get<"mean_of_elements_gradient">());
  check("mean_ceil", result.get<"mean_ceil">());
  check("mean_ceil_gradient", result.get<"mean_ceil_gradient">());
}

// SPDX-License-Identifier: Apache-2.0
// Pools on the cpu device: what plain loops give, with channels last and first, and their gradients; alone and in
// parts.
// passes: start-up
// needs: cpu
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
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
inline constexpr struct columns_dim : mt::dim<"columns", 70> {} columns;
inline constexpr struct rows_2_dim : mt::dim<"rows_2", mt::divided(rows, 2)> {} rows_2;
inline constexpr struct columns_2_dim : mt::dim<"columns_2", mt::windowed(columns, 3, 2, 2, 1, 3)> {} columns_2;
inline constexpr struct channels_dim : mt::dim<"channels", 37> {} channels;
inline constexpr struct parts_axis : mt::axis<"parts"> {} parts;
struct mesh : mt::mesh<parts> {};
struct by_rows : mt::layout<mt::shard<rows, parts>> {};

template <mt::dtype Type>
struct layer {
  constexpr void operator()(mt::scope auto s) const {
    constexpr mt::dtype_constant<Type> type;
    auto down = mt::window(rows, rows_2, 3, {.stride = 2, .padding = mt::centred_padding});
    auto aside = mt::window(columns, columns_2, 3, {.stride = 2, .dilation = 2, .padding = {1, 3}});
    auto beside = mt::window(columns, columns, 3, {.padding = mt::centred_padding});
    auto last = s.input("x", type, batch, rows, columns, channels);
    auto first = transpose(last, to(channels, batch, rows, columns));
    auto of = [&](auto const& x) {
      auto y = max_pool(x, down, aside);
      auto z = sum_pool(max_pool(x, beside), down, aside);
      if constexpr (mt::is_float(Type)) {
        auto const loss = sum(cast<mt::dtype::f32>(y * (y * 0.5 + 1) + z));
        return std::tuple(y, z, gradient(loss, x));
      } else {
        return std::tuple(y, z, y);
      }
    };
    auto [a, b, c] = of(last);
    s.output("greatest", a), s.output("sum", b), s.output("gradient", c);
    auto [d, e, f] = of(first);
    s.output("greatest, channels first", d), s.output("sum, channels first", e),
        s.output("gradient, channels first", f);
  }
};

/// Every `nan`th element is NaN; 0: none.
template <class Device, mt::dtype Type>
std::map<std::string, std::vector<double>> outputs_of(int processors, std::int64_t images, std::int64_t height,
                                                      std::int64_t nan) {
  auto job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<layer<Type>, mesh, by_rows, Device> step(values, batch(images), rows(height), parts(processors));
  std::uint32_t state = 7;
  std::vector<mt::element_t<Type>> x;
  for (std::int64_t i = 0; i < images * height * 70 * 37; ++i) {  // with ties, but no sum is rounded
    state = state * 1664525u + 1013904223u;
    float const value = nan != 0 && i % nan == nan - 1 ? std::numeric_limits<float>::quiet_NaN()
                                                       : static_cast<float>(static_cast<int>(state >> 29) - 3);
    x.push_back(static_cast<mt::element_t<Type>>(value));
  }
  auto const result = step(mt::feed<"x">(x));
  std::map<std::string, std::vector<double>> all;
  auto const keep = [&](char const* name, auto const& output) {
    for (auto v : output) all[name].push_back(static_cast<double>(v));
  };
  keep("greatest", result.template get<"greatest">().gather());
  keep("sum", result.template get<"sum">().gather());
  keep("gradient", result.template get<"gradient">().gather());
  keep("greatest, channels first", result.template get<"greatest, channels first">().gather());
  keep("sum, channels first", result.template get<"sum, channels first">().gather());
  keep("gradient, channels first", result.template get<"gradient, channels first">().gather());
  return all;
}

bool are_same(std::vector<double> const& a, std::vector<double> const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

template <mt::dtype Type>
void check(int processors, std::int64_t images, std::int64_t height, std::int64_t nan = 0) {
  INFO(std::string(mt::text_of(Type)) << ", " << images << " images of " << height << " rows on " << processors);
  auto const wanted = outputs_of<mt::reference_device, Type>(1, images, height, nan);
  auto const got = outputs_of<mt::default_device, Type>(processors, images, height, nan);
  for (auto const& [name, values] : wanted) CHECK_MESSAGE(are_same(got.at(name), values), name);
}

}  // namespace

TEST_CASE("what plain loops give") {
  for (int processors : {1, 3}) {
    check<mt::dtype::f32>(processors, 2, 8);
    check<mt::dtype::bf16>(processors, 1, 13);
    check<mt::dtype::i32>(processors, 1, 5);
  }
}

TEST_CASE("NaN is greater than any number, wherever in a window it is") {
  for (std::int64_t nan : {211, 5}) {  // few windows have one; most have several
    check<mt::dtype::f32>(1, 2, 8, nan);
    check<mt::dtype::bf16>(3, 1, 5, nan);
  }
}

// SPDX-License-Identifier: Apache-2.0
// Products of a Hessian and a vector, of a small convolutional network in f64: a gradient of a gradient, beside
// differences of gradients, on one processor and on several that share images, rows and channels unevenly.
// passes: start-up
// timeout: 300
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "meshtensor/device/reference.hpp"
#include "meshtensor/meshtensor.hpp"
#include "property/sample.hpp"

namespace mt = meshtensor;

namespace {

namespace net {
using mt::to;

inline constexpr struct batch : mt::dim<"batch", 3> {} batch;
inline constexpr struct rows : mt::dim<"rows", 7> {} rows;
inline constexpr struct cols : mt::dim<"cols", 5> {} cols;
inline constexpr struct rows_2 : mt::dim<"rows_2", mt::divided(rows, 2)> {} rows_2;
inline constexpr struct cols_2 : mt::dim<"cols_2", mt::divided(cols, 2)> {} cols_2;
inline constexpr struct k_rows : mt::dim<"k_rows", 3> {} k_rows;
inline constexpr struct k_cols : mt::dim<"k_cols", 3> {} k_cols;
inline constexpr struct colour : mt::dim<"colour", 2> {} colour;
inline constexpr struct middle : mt::dim<"middle", 3> {} middle;
inline constexpr struct out : mt::dim<"out", 2> {} out;

inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct height : mt::axis<"height"> {} height;
inline constexpr struct model : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, height, model> {};
struct layout
    : mt::layout<mt::shard<batch, data>, mt::shard<rows, height>, mt::shard<rows_2, height>, mt::shard<middle, model>> {
};

/// conv, norm, pool, conv and mean; what is between is smooth, but for the pool's choices.
constexpr auto loss_of(mt::scope auto s, auto x, auto first, auto second) {
  mt::window_options const same{.padding = mt::centred_padding};
  mt::window_options const overlapping{.stride = 2, .padding = mt::centred_padding};
  auto const h = conv(x, first, to(batch, rows, cols, middle), mt::window(rows, rows, k_rows, same),
                      mt::window(cols, cols, k_cols, same));
  auto const normed = tanh(mt::nn::batch_norm(s / "norm", h, middle));
  auto const pooled =
      max_pool(normed, mt::window(rows, rows_2, 3, overlapping), mt::window(cols, cols_2, 3, overlapping));
  auto const y = conv(pooled, second, to(batch, rows_2, cols_2, out), mt::window(rows_2, rows_2, k_rows, same),
                      mt::window(cols_2, cols_2, k_cols, same));
  return mean(y * y + y);
}

/// The gradients by the images and both kernels, and the Hessian times a vector, [x, first, second].
struct curved {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, batch, rows, cols, colour);
    auto const first = s.input("first", mt::f64, k_rows, k_cols, colour, middle);
    auto const second = s.input("second", mt::f64, k_rows, k_cols, middle, out);
    auto const along_x = s.input("along x", mt::f64, batch, rows, cols, colour);
    auto const along_1 = s.input("along first", mt::f64, k_rows, k_cols, colour, middle);
    auto const along_2 = s.input("along second", mt::f64, k_rows, k_cols, middle, out);
    auto const [dx, d1, d2] = mt::gradient(loss_of(s, x, first, second), x, first, second);
    auto const derivative = mt::sum(dx * along_x) + mt::sum(d1 * along_1) + mt::sum(d2 * along_2);
    auto const [hx, h1, h2] = mt::gradient(derivative, x, first, second);
    s.output("dx", dx), s.output("d1", d1), s.output("d2", d2);
    s.output("hx", hx), s.output("h1", h1), s.output("h2", h2);
  }
};
struct curved_f64 : mt::precision<curved, mt::f64> {};

inline constexpr struct width : mt::dim<"width", 3> {} width;
inline constexpr struct layers : mt::dim<"layers", 5> {} layers;
struct spread_layers : mt::layout<mt::shard<batch, data>, mt::shard<layers, data>, mt::shard<width, model>> {};

/// Layers whose parameters are spread over the ranks that share the batch; what the first gradient saves of them has
/// cotangents from both loops of the second one.
struct deep {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, batch, width);
    auto const along = s.input("along", mt::f64, batch, width);
    auto const y = mt::repeat(s / "layers", layers, x, [](mt::scope auto r, auto h) {
      return h + tanh(h * h * r.parameter("gain", width, mt::constant(0.7)) + sum(h, width));
    });
    auto const first = mt::gradient(mean(y * y * y), x);
    auto const second = mt::gradient(mt::sum(first * along), x);
    s.output("first", first), s.output("second", second);
    s.output("third", mt::gradient(mt::sum(second * along), x));
  }
};
struct deep_f64 : mt::precision<deep, mt::f64> {};

inline constexpr struct turns : mt::dim<"turns", 2> {} turns;

/// The same with a loop in each layer, so that loops stack and take stacks of stacks; twice what it stacks is taken by
/// another one.
struct deeper {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, batch, width);
    auto const along = s.input("along", mt::f64, batch, width);
    auto const shifts = s.parameter("shifts", layers, width, mt::constant(0.2));
    auto const y = mt::repeat(s / "turns", turns, x, [&](mt::scope auto r, auto h) {
      auto const [last, all] = mt::scan(r / "in", layers, h, shifts, [](auto, auto k, auto shift) {
        auto const next = tanh(k * k * 0.5 + shift);
        return std::tuple(next, next * k);
      });
      return std::get<0>(mt::scan(r / "out", layers, last, all + all * 2,
                                  [](auto, auto k, auto e) { return std::tuple(k + e * k * 0.1, k); }));
    });
    auto const first = mt::gradient(mean(y * y * y), x);
    auto const second = mt::gradient(mt::sum(first * along), x);
    s.output("first", first), s.output("second", second);
    s.output("third", mt::gradient(mt::sum(second * along), x));
  }
};
struct deeper_f64 : mt::precision<deeper, mt::f64> {};
}  // namespace net

using numbers = std::vector<double>;
using point = std::array<numbers, 3>;  // images, and both kernels

numbers drawn(std::size_t count, double phase) {
  numbers r(count);
  for (std::size_t i = 0; i < count; ++i)
    r[i] = std::sin(phase + 1.7 * static_cast<double>(i) + 0.3 * static_cast<double>(i * i % 31));
  return r;
}
point drawn(double phase) {
  return {drawn(3 * 7 * 5 * 2, phase), drawn(3 * 3 * 2 * 3, phase + 1), drawn(3 * 3 * 3 * 2, phase + 2)};
}

struct found {
  point gradient, product;
};

found on_mesh(std::array<std::int64_t, 3> const& m, point const& at, point const& along) {
  auto const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<net::curved_f64, net::mesh, net::layout, mt::reference_device> run(
      weights, net::data(m[0]), net::height(m[1]), net::model(m[2]));
  auto const got =
      run(mt::feed<"x">(at[0]), mt::feed<"first">(at[1]), mt::feed<"second">(at[2]), mt::feed<"along x">(along[0]),
          mt::feed<"along first">(along[1]), mt::feed<"along second">(along[2]));
  auto const whole = [](auto const& a) { return numbers(a.begin(), a.end()); };
  return {{whole(got.get<"dx">().gather()), whole(got.get<"d1">().gather()), whole(got.get<"d2">().gather())},
          {whole(got.get<"hx">().gather()), whole(got.get<"h1">().gather()), whole(got.get<"h2">().gather())}};
}

point moved(point at, point const& along, double by) {
  for (std::size_t k = 0; k < at.size(); ++k)
    for (std::size_t i = 0; i < at[k].size(); ++i) at[k][i] += by * along[k][i];
  return at;
}

/// The largest difference, in proportion to the largest element.
double apart(point const& a, point const& b) {
  double most = 0, largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    for (std::size_t i = 0; i < a[k].size(); ++i)
      most = std::max(most, std::abs(a[k][i] - b[k][i])), largest = std::max(largest, std::abs(b[k][i]));
  return most / largest;
}

}  // namespace

TEST_CASE("a Hessian times a vector") {
  point const at = drawn(0.2), along = drawn(5.1);
  double const step = 1e-5;
  found const whole = on_mesh({1, 1, 1}, at, along);
  point const before = on_mesh({1, 1, 1}, moved(at, along, -step), along).gradient,
              behind = on_mesh({1, 1, 1}, moved(at, along, step), along).gradient;
  point differences = behind;
  for (std::size_t k = 0; k < differences.size(); ++k)
    for (std::size_t i = 0; i < differences[k].size(); ++i)
      differences[k][i] = (behind[k][i] - before[k][i]) / (2 * step);
  CHECK(apart(whole.product, differences) < 1e-7);
  long tried = 0;
  for (std::array<std::int64_t, 3> const& m : std::vector<std::array<std::int64_t, 3>>{
           {2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {1, 3, 1}, {2, 2, 1}, {1, 2, 2}, {2, 3, 1}, {2, 2, 2}}) {
    INFO("data = " << m[0] << ", height = " << m[1] << ", model = " << m[2]);
    found const spread = on_mesh(m, at, along);
    CHECK(apart(spread.gradient, whole.gradient) < 1e-12);
    CHECK(apart(spread.product, whole.product) < 1e-12);
    ++tried;
  }
  property::at_least(8, tried);
}

namespace {
template <class Program>
void check_spread_layers() {
  auto const derivatives = [](std::int64_t data, std::int64_t model) {
    auto const job = mt::job::in_lockstep();
    mt::store weights(job);
    mt::executable<Program, net::mesh, net::spread_layers, mt::reference_device> run(weights, net::data(data),
                                                                                     net::height(1), net::model(model));
    auto const got = run(mt::feed<"x">(drawn(9, 0.4)), mt::feed<"along">(drawn(9, 2.3)));
    auto const whole = [](auto const& a) { return numbers(a.begin(), a.end()); };
    return point{whole(got.template get<"first">().gather()), whole(got.template get<"second">().gather()),
                 whole(got.template get<"third">().gather())};
  };
  point const alone = derivatives(1, 1);
  for (auto const& [data, model] : std::vector<std::array<std::int64_t, 2>>{{2, 1}, {3, 1}, {2, 2}, {3, 3}, {6, 1}}) {
    INFO("data = " << data << ", model = " << model);
    CHECK(apart(derivatives(data, model), alone) < 1e-12);
  }
}
}  // namespace

TEST_CASE("derivatives through layers that are spread over the axis of the batch") {
  check_spread_layers<net::deep_f64>();
}
TEST_CASE("derivatives through loops inside of a loop, whose layers are spread so") {
  check_spread_layers<net::deeper_f64>();
}

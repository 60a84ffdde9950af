// SPDX-License-Identifier: Apache-2.0
// Numbers of a PJRT plugin, whose programs are written in another order, beside those of plain loops: NaN, ties and
// infinities in windows and in relu, and products of factors of channels.
// passes: start-up
// sanitize: no
// part: pjrt
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "meshtensor/device/pjrt/device.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/pjrt.hpp"

namespace mt = meshtensor;

namespace {

using mt::to;
inline constexpr struct batch : mt::dim<"batch", 3> {} batch;
inline constexpr struct rows : mt::dim<"rows", 13> {} rows;
inline constexpr struct cols : mt::dim<"cols", 11> {} cols;
inline constexpr struct channels : mt::dim<"channels", 4> {} channels;
inline constexpr struct twice : mt::dim<"twice", 2> {} twice;
inline constexpr struct rows_2 : mt::dim<"rows_2", mt::windowed(rows, 3, 2, 1, 1, 1)> {} rows_2;
inline constexpr struct cols_2 : mt::dim<"cols_2", mt::windowed(cols, 3, 2, 1, 1, 1)> {} cols_2;
inline constexpr struct rows_3 : mt::dim<"rows_3", mt::windowed(rows, 2, 4, 1, 0, 0)> {} rows_3;
inline constexpr struct cols_3 : mt::dim<"cols_3", mt::windowed(cols, 3, 2, 2, 2, 3)> {} cols_3;
inline constexpr struct rows_4 : mt::dim<"rows_4", mt::windowed(rows, 2, 3, 1, 3, 2)> {} rows_4;
inline constexpr struct parts_axis : mt::axis<"parts"> {} parts;
struct mesh : mt::mesh<parts> {};
struct whole : mt::layout<> {};

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

/// Elements from -3 to 4, so that windows have ties and no sum is rounded; every `odd`th one is NaN, an infinity or a
/// zero below zero.
template <mt::dtype Type>
std::vector<mt::element_t<Type>> elements(std::int64_t count, std::int64_t odd) {
  constexpr double odd_ones[] = {nan, -infinity, -0.0, infinity};
  std::uint32_t state = 7;
  std::vector<mt::element_t<Type>> all;
  for (std::int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    double x = static_cast<double>(state >> 29) - (Type == mt::dtype::u8 ? 0 : 3);
    if (mt::is_float(Type) && i % odd == odd - 1) x = odd_ones[state >> 16 & 3];
    all.push_back(static_cast<mt::element_t<Type>>(static_cast<float>(x)));
  }
  return all;
}

using outputs = std::map<std::string, std::vector<double>>;
void keep(outputs& all, char const* name, auto const& values) {
  for (auto v : values.gather()) all[name].push_back(static_cast<double>(v));
}
/// Equal, NaN too, or at most `allowed` of the greatest finite element apart.
void check_same(outputs const& got, outputs const& wanted, double allowed = 0) {
  for (auto const& [name, values] : wanted) {
    double greatest = 0;
    for (double v : values) greatest = std::isfinite(v) ? std::max(greatest, std::abs(v)) : greatest;
    REQUIRE(got.at(name).size() == values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      double const x = got.at(name)[i], y = values[i];
      bool const same = x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= allowed * greatest;
      if (!same) FAIL_CHECK(name << " at " << i << ": " << x << " instead of " << y);
    }
  }
}

/// Windows that overlap; whose strides are greater than they, over dilated ones; some of padding alone.
template <mt::dtype Type>
struct greatest {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::dtype_constant<Type>{}, batch, rows, cols, channels);
    auto const down = mt::window(rows, rows_2, 3, {.stride = 2, .padding = mt::centred_padding});
    auto const aside = mt::window(cols, cols_2, 3, {.stride = 2, .padding = mt::centred_padding});
    auto const apart = mt::window(rows, rows_3, 2, {.stride = 4});
    auto const dilated = mt::window(cols, cols_3, 3, {.stride = 2, .dilation = 2, .padding = {2, 3}});
    auto const beyond = mt::window(rows, rows_4, 2, {.stride = 3, .padding = {3, 2}});
    auto const a = max_pool(x, down, aside);
    auto const b = max_pool(x, apart, dilated);
    auto const c = max_pool(x, beyond);
    s.output("overlapping", a), s.output("apart", b), s.output("beyond", c);
    if constexpr (mt::is_float(Type)) {
      auto const weighed = [](auto const& y) { return sum(cast<mt::dtype::f32>(y * (y * 0.5 + 1))); };
      s.output("overlapping, gradient", gradient(weighed(a), x));
      s.output("apart, gradient", gradient(weighed(b), x));
      s.output("beyond, gradient", gradient(weighed(c), x));
    }
  }
};
template <class Device, mt::dtype Type>
outputs greatest_of(std::int64_t odd) {
  auto const job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<greatest<Type>, mesh, whole, Device> step(values, parts(1));
  auto const x = elements<Type>(3 * 13 * 11 * 4, odd);
  auto const r = step(mt::feed<"x">(x));
  outputs all;
  keep(all, "overlapping", r.template get<"overlapping">());
  keep(all, "apart", r.template get<"apart">());
  keep(all, "beyond", r.template get<"beyond">());
  if constexpr (mt::is_float(Type)) {
    keep(all, "overlapping, gradient", r.template get<"overlapping, gradient">());
    keep(all, "apart, gradient", r.template get<"apart, gradient">());
    keep(all, "beyond, gradient", r.template get<"beyond, gradient">());
  }
  return all;
}
template <mt::dtype Type>
void check_greatest(std::int64_t odd) {
  INFO(std::string(mt::text_of(Type)), ", every ", odd, "th element");
  check_same(greatest_of<mt::pjrt_device, Type>(odd), greatest_of<mt::reference_device, Type>(odd));
}

}  // namespace

TEST_CASE("the greatest elements of windows and their gradients, with NaN, infinities and ties") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  for (std::int64_t odd : {1000000, 61, 3}) check_greatest<mt::dtype::f32>(odd), check_greatest<mt::dtype::bf16>(odd);
  check_greatest<mt::dtype::f64>(7);
  check_greatest<mt::dtype::i32>(1);
  check_greatest<mt::dtype::u8>(1);
}

namespace {

/// relu of an operand, of a sum in bf16, and of what was f32 before; their gradients.
struct rectified {
  constexpr void operator()(mt::scope auto s) const {
    auto const a = s.input("a", mt::bf16, batch, rows, channels);
    auto const b = s.input("b", mt::bf16, batch, rows, channels);
    auto const by = s.input("by", mt::f32, channels);
    auto const of = relu(a), of_sum = relu(a + b);
    auto const of_f32 = relu(cast<mt::dtype::bf16>(cast<mt::dtype::f32>(b) * by));
    s.output("of", of), s.output("of sum", of_sum), s.output("of f32", of_f32);
    s.output("at most two", select(of <= 2, a, b));
    auto const loss =
        sum(cast<mt::dtype::f32>(of)) + 2 * sum(cast<mt::dtype::f32>(of_sum)) + 4 * sum(cast<mt::dtype::f32>(of_f32));
    s.output("gradient a", gradient(loss, a)), s.output("gradient b", gradient(loss, b));
  }
};
template <class Device>
outputs rectified_of() {
  auto const job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<rectified, mesh, whole, Device> step(values, parts(1));
  auto const a = elements<mt::dtype::bf16>(3 * 13 * 4, 5);
  auto b = elements<mt::dtype::bf16>(3 * 13 * 4, 9);
  for (std::size_t i = 0; i < b.size(); i += 4) b[i] = static_cast<mt::bf16_t>(-static_cast<float>(a[i]));
  std::vector<float> const by{1, -0.5f, 1e-3f, 3e38f};
  auto const r = step(mt::feed<"a">(a), mt::feed<"b">(b), mt::feed<"by">(by));
  outputs all;
  keep(all, "of", r.template get<"of">());
  keep(all, "of sum", r.template get<"of sum">());
  keep(all, "at most two", r.template get<"at most two">());
  keep(all, "of f32", r.template get<"of f32">());
  keep(all, "gradient a", r.template get<"gradient a">());
  keep(all, "gradient b", r.template get<"gradient b">());
  return all;
}

}  // namespace

TEST_CASE("relu of bf16 and its gradient, with NaN, infinities and zeros of both signs") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  check_same(rectified_of<mt::pjrt_device>(), rectified_of<mt::reference_device>());
}

namespace {

/// Sums and products with tensors of some of the dims, in every order that is written in another one.
template <mt::dtype Type>
struct factors {
  constexpr void operator()(mt::scope auto s) const {
    auto const given = s.input("x", mt::dtype_constant<Type>{}, batch, rows, channels);
    auto const x = cast<mt::dtype::f32>(given);
    auto const p = s.input("p", mt::f32, batch, rows, channels);
    auto const a = s.input("a", mt::f32, channels), b = s.input("b", mt::f32, channels);
    auto const c = s.input("c", mt::f32, batch);
    s.output("norm", (x - a) * b * a + b);
    s.output("backwards", (p * a - x * b) * c - (x - b) * a - (p * b - x * c));
    s.output("of two dims", ((x - a) * c + b) * a);
    s.output("minus", a - ((p - a) * b - c - x * a));
    s.output("turned", transpose(p, to(channels, rows, batch)) * a - (x - c) * b);
    auto const centred = (x - a) * b;
    s.output("summed",
             sum(p * centred, batch, rows) + sum(x * c, rows, channels) * sum(centred, batch, channels, rows));
    auto const outer = centred * c;
    s.output("walked", repeat(s / "walk", twice, x * b, [&](mt::scope auto, auto h) { return h * a - outer * c; }));
    s.output("after", outer);
    auto const mean_of_x = mean(x, batch, rows);
    auto const off = x - mean_of_x;
    auto const y = off * rsqrt(mean(off * off, batch, rows) + 1e-5) * a + b;
    s.output("y", y), s.output("gradient", gradient(sum(y * y * p), given));
  }
};
template <class Device, mt::dtype Type>
outputs factors_of(double far) {
  auto const job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<factors<Type>, mesh, whole, Device> step(values, parts(1));
  auto const waves = [](std::int64_t count, double pace, double from, double by, auto type) {
    std::vector<decltype(type)> all;
    for (std::int64_t i = 0; i < count; ++i)
      all.push_back(static_cast<decltype(type)>(static_cast<float>(from + by * std::sin(pace * double(i) + 0.3))));
    return all;
  };
  std::int64_t const count = 3 * 13 * 4;
  auto const x = waves(count, 0.7, far, 1, mt::element_t<Type>{});
  auto const p = waves(count, 0.37, 0, 1, float{}), a = waves(4, 1.3, 0.5, 1, float{});
  auto const b = waves(4, 2.1, -0.5, 1, float{}), c = waves(3, 1.1, 0, 2, float{});
  auto const r = step(mt::feed<"x">(x), mt::feed<"p">(p), mt::feed<"a">(a), mt::feed<"b">(b), mt::feed<"c">(c));
  outputs all;
  keep(all, "norm", r.template get<"norm">());
  keep(all, "backwards", r.template get<"backwards">());
  keep(all, "of two dims", r.template get<"of two dims">());
  keep(all, "minus", r.template get<"minus">());
  keep(all, "turned", r.template get<"turned">());
  keep(all, "summed", r.template get<"summed">());
  keep(all, "walked", r.template get<"walked">());
  keep(all, "after", r.template get<"after">());
  keep(all, "y", r.template get<"y">());
  keep(all, "gradient", r.template get<"gradient">());
  return all;
}

}  // namespace

TEST_CASE("products of factors of channels, and norms of what is far from zero") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  using mt::dtype;
  check_same(factors_of<mt::pjrt_device, dtype::f32>(0), factors_of<mt::reference_device, dtype::f32>(0), 1e-5);
  for (double far : {0, 100})
    check_same(factors_of<mt::pjrt_device, dtype::bf16>(far), factors_of<mt::reference_device, dtype::bf16>(far), 1e-2);
  check_same(factors_of<mt::pjrt_device, dtype::f32>(1000), factors_of<mt::reference_device, dtype::f32>(1000), 1e-3);
}

namespace {

/// A batch norm in bf16 of channels that are constant, nearly so, and not.
struct constants {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::bf16, batch, rows, channels);
    auto const y = mt::nn::batch_norm(s / "norm", x, channels);
    s.output("y", cast<mt::dtype::f32>(y));
    auto const p = s.input("p", mt::f32, batch, rows, channels);
    s.output("gradient", gradient(sum(cast<mt::dtype::f32>(y * y) * p), x));
    auto const wide = cast<mt::dtype::f64>(s.input("z", mt::bf16, batch, rows, channels));
    auto const centre = mean(wide, batch, rows), variance = mean(wide * wide, batch, rows) - centre * centre;
    auto const far = cast<mt::dtype::f32>(x) - cast<mt::dtype::f32>(centre);  // of the mean of another tensor
    s.output("far", far * rsqrt(cast<mt::dtype::f32>(variance) + 1e-5) + sum(p, batch, rows));
  }
};
template <class Device>
outputs constants_of() {
  auto const job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<constants, mesh, whole, Device> step(values, parts(1));
  values.set("norm/gain", std::vector<float>{1, 0.75f, 1.25f, 1});
  values.set("norm/bias", std::vector<float>{0.125f, 0.25f, 0.5f, 0.0625f});
  std::vector<mt::bf16_t> x;
  std::vector<float> p;
  for (int i = 0; i < 3 * 13; ++i) {
    for (float const v : {1000.f, -30000.f, i == 5 ? 1004.f : 1000.f, 100 + 2 * std::sin(0.7f * static_cast<float>(i))})
      x.push_back(static_cast<mt::bf16_t>(v));
    for (int c = 0; c < 4; ++c) p.push_back(std::sin(0.37f * static_cast<float>(4 * i + c)));
  }
  std::vector<mt::bf16_t> const z(x.size(), static_cast<mt::bf16_t>(500.f));
  auto const r = step(mt::feed<"x">(x), mt::feed<"p">(p), mt::feed<"z">(z));
  outputs all;
  keep(all, "far", r.template get<"far">());
  keep(all, "y", r.template get<"y">()), keep(all, "gradient", r.template get<"gradient">());
  for (float const mean : values.get<float>("norm/mean")) all["mean"].push_back(static_cast<double>(mean));
  return all;
}

}  // namespace

TEST_CASE("a batch norm of a constant channel in bf16 is its bias") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  outputs const got = constants_of<mt::pjrt_device>(), wanted = constants_of<mt::reference_device>();
  for (std::size_t i = 0; i < got.at("y").size(); ++i) {
    CAPTURE(i);
    if (i % 4 < 2) CHECK(got.at("y")[i] == (i % 4 == 0 ? 0.125 : 0.25));
    CHECK(got.at("y")[i] == doctest::Approx(wanted.at("y")[i]).epsilon(0.01));
  }
  check_same(got, wanted, 0.02);
}

// SPDX-License-Identifier: Apache-2.0
// Lesson 15. You learn to choose the device that runs a program. The device is the last template argument of an
// executable. Program, mesh, layout and store do not depend on it, so that you can compare devices, or train on one
// device and predict on another.
//
// needs: cpu
// passes: start-up
#include <doctest/doctest.h>

#include <meshtensor/device/default.hpp>
#include <meshtensor/device/reference.hpp>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;
using mt::to;

namespace lesson {
inline constexpr struct batch : mt::dim<"batch", 12> {} batch;
inline constexpr struct in : mt::dim<"in", 3> {} in;
inline constexpr struct out : mt::dim<"out", 8> {} out;
inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, model> {};
struct by_batch : mt::layout<mt::shard<batch, data>> {};
struct by_both : mt::layout<mt::shard<batch, data>, mt::shard<out, model>> {};

struct fit {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto error = einsum(x, s.parameter("w", in, out, mt::zeros), to(batch, out)) - s.input("y", mt::f32, batch, out);
    auto loss = mean(error * error);
    mt::sgd{.learning_rate = 1}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct predict {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", einsum(x, s.parameter("w", in, out, mt::zeros), to(batch, out)));
  }
};
struct programs : mt::programs<fit, predict> {};

// `reference_device` evaluates each operation by plain loops, and it is there in every build. `default_device` is the
// device that an executable has if you name none. With the component `cpu`, as here, it is the fast `cpu_device`.
// `cuda_device` and `pjrt_device` are chosen in the same way, and need hardware or a plugin.
static_assert(std::is_same_v<mt::default_device, mt::cpu_device>);
static_assert(mt::device<mt::reference_device> && mt::device<mt::cpu_device>);

mt::array<float, batch, in> x;
mt::array<float, batch, out> y;
constexpr int steps = 10;
// The plain computation: gradient descent, written out. `losses` has the loss of each step.
mt::array<float, in, out> w;
std::vector<float> losses;
bool const computed = [] {
  int n = 0;
  for (float& e : x) e = static_cast<float>(n++ * 5 % 7) / 7;
  for (float& e : y) e = static_cast<float>(n++ * 3 % 11) / 11;
  for (int i = 0; i < steps; ++i) {
    mt::array<float, in, out> slope;
    double loss = 0;
    for (int b = 0; b < 12; ++b)
      for (int o = 0; o < 8; ++o) {
        float error = -y(batch(b), out(o));
        for (int k = 0; k < 3; ++k) error += x(batch(b), in(k)) * w(in(k), out(o));
        loss += static_cast<double>(error * error) / 96;  // the mean over 12 · 8 elements
        for (int k = 0; k < 3; ++k) slope(in(k), out(o)) += 2 * error * x(batch(b), in(k)) / 96;
      }
    losses.push_back(static_cast<float>(loss));
    w = w - slope;
  }
  return true;
}();

// Trains on one device, predicts on another one, and compares both with the plain computation.
template <class Layout, class Trains, class Predicts>
void compare(std::int64_t along_data, std::int64_t along_model) {
  auto job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<programs, fit, mesh, Layout, Trains> step(weights, data(along_data), model(along_model));
  mt::executable<programs, predict, mesh, Layout, Predicts> guess(weights, data(along_data), model(along_model));
  // Devices add floats in different orders, so results may differ in the last digits.
  for (float const expected : losses) {
    float const loss = step(mt::feed<"x">(x), mt::feed<"y">(y)).template get<"loss">();
    CHECK(loss == doctest::Approx(expected).epsilon(1e-5));
  }
  mt::array<float, in, out> const trained(weights.get<float>("w"));
  CHECK(max(abs(trained - w)) < 1e-5f);
  auto const guessed = guess(mt::feed<"x">(x)).template get<"y">().gather();
  CHECK(max(abs(guessed - einsum(x, w, to(batch, out)))) < 1e-5f);
}
template <class Trains, class Predicts>
void compare_on_all_meshes() {
  for (int const ranks : {1, 2, 3, 4, 6, 8}) compare<by_batch, Trains, Predicts>(ranks, 1);
  compare<by_both, Trains, Predicts>(1, 8);
  compare<by_both, Trains, Predicts>(2, 2);
  compare<by_both, Trains, Predicts>(3, 2);
}
}  // namespace lesson
using namespace lesson;

TEST_CASE("every device has the results of plain loops, under every layout of every mesh") {
  CHECK(losses.back() < losses.front() / 2);
  compare_on_all_meshes<mt::reference_device, mt::reference_device>();
  compare_on_all_meshes<mt::cpu_device, mt::cpu_device>();
}

TEST_CASE("one store serves executables on several devices") {
  compare_on_all_meshes<mt::cpu_device, mt::reference_device>();
}

// SPDX-License-Identifier: Apache-2.0
// Lesson 4. A gradient is part of the program: one node, until a pass replaces it by what computes it. Optimizers are
// functions that update parameters.
#include <doctest/doctest.h>

#include <meshtensor/emit/print.hpp>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;
using mt::to;

namespace lesson {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct in : mt::dim<"in", 2> {} in;

// Fits y = w x by hand-made gradient descent.
struct fit {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, in);  // s.real(): the program's own float, f32 unless said otherwise
    auto y = s.input("y", s.real(), batch);
    auto w = s.parameter("w", in, mt::zeros);
    auto error = einsum(x, w, to(batch)) - y;
    auto loss = mean(error * error);
    s.update(w, w - gradient(loss, w) * s.number("rate", 0.25));  // a number: set by name, never a reason to rebuild
    s.output("loss", loss);
  }
};

struct fit_by_adam {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, in);
    auto error = einsum(x, s.parameter("w", in, mt::zeros), to(batch)) - s.input("y", s.real(), batch);
    auto loss = mean(error * error);
    mt::adam{.learning_rate = s.number("rate", 0.25)}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

mt::array<double, batch, in> const x({1, 0, 0, 1, 1, 1});
mt::array<double, batch> const y({2, 3, 5});
}  // namespace lesson
using namespace lesson;

TEST_CASE("differentiate replaces the gradient") {
  static constexpr mt::module traced = mt::trace<fit>();
  CHECK(text_of(traced).find(" = gradient(") != std::string::npos);
  auto const derived = mt::on_heap([] { return mt::differentiate(traced); });
  std::string const text = text_of(*derived);
  CHECK(text.find(" = gradient(") == std::string::npos);
  CHECK(text.find("over batch") != std::string::npos);  // the product of error and x, summed over batch
}

TEST_CASE("it is the derivative") {
  mt::eager<mt::f64> s;
  auto w = s.parameter("w", in, mt::constant(0.5));
  auto loss_at = [&](auto const& v) {
    auto error = einsum(s(x), v, to(batch)) - s(y);
    return mean(error * error);
  };
  auto const derivative = s.value(gradient(loss_at(w), w));
  double const h = 1e-6;
  for (int i = 0; i < 2; ++i) {
    mt::array<double, in> step;
    step(in(i)) = h;
    double const difference = s.value(loss_at(w + s(step)) - loss_at(w - s(step)));
    CHECK(derivative(in(i)) == doctest::Approx(difference / (2 * h)));
  }
}

TEST_CASE("descent") {
  using in_f64 = mt::precision<fit, mt::f64>;  // the same program with other floats
  mt::eager<mt::f64> s(mt::feed<"x">(x), mt::feed<"y">(y));
  for (int i = 0; i < 60; ++i) s.run(in_f64{});
  CHECK(s.get<double>("w")(in(0)) == doctest::Approx(2).epsilon(1e-3));
  CHECK(s.run(mt::precision<fit_by_adam, mt::f64>{}).get<double>("loss").item() < 1e-3);
}

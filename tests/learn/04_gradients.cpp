// SPDX-License-Identifier: Apache-2.0
// Lesson 4. You learn to train parameters. A gradient is a part of the program. At first it is a single node, and later
// a pass replaces it by the nodes that compute it. An optimizer is a function that updates parameters with gradients.
#include <doctest/doctest.h>

#include <meshtensor/emit/print.hpp>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;
using mt::to;

namespace lesson {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct in : mt::dim<"in", 2> {} in;

// This program fits y = w x. It writes gradient descent out, so that we see all of its parts.
struct fit {
  constexpr void operator()(mt::scope auto s) const {
    // `s.real()` is the float type of the program. It is f32 by default, and `mt::precision` below changes it to f64.
    auto x = s.input("x", s.real(), batch, in);
    auto y = s.input("y", s.real(), batch);
    auto w = s.parameter("w", in, mt::zeros);
    auto error = einsum(x, w, to(batch)) - y;
    auto loss = mean(error * error);
    // A number such as the rate has a name and a default value. You can set it before any step without a rebuild.
    s.update(w, w - gradient(loss, w) * s.number("rate", 0.25));
    s.output("loss", loss);
  }
};

// The same fit with an optimizer of the library. `minimize` computes the gradients of the loss with respect to every
// parameter that it depends on, and updates these parameters. Adam keeps its own state in the scope s / "optimizer".
struct fit_by_adam {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, in);
    auto error = einsum(x, s.parameter("w", in, mt::zeros), to(batch)) - s.input("y", s.real(), batch);
    auto loss = mean(error * error);
    mt::adam{.learning_rate = s.number("rate", 0.25)}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

// The data follow y = 2 x₀ + 3 x₁, so the fit should find w = (2, 3).
mt::array<double, batch, in> const x({1, 0, 0, 1, 1, 1});
mt::array<double, batch> const y({2, 3, 5});
}  // namespace lesson
using namespace lesson;

TEST_CASE("differentiate replaces the gradient") {
  // The recorded graph contains the gradient as one node. You never call `differentiate` yourself, because it is one of
  // the passes that the compiler runs. We call it here to see its effect.
  static constexpr mt::module traced = mt::trace<fit>();
  CHECK(text_of(traced).find(" = gradient(") != std::string::npos);
  auto const derived = mt::on_heap([] { return mt::differentiate(traced); });
  std::string const text = text_of(*derived);
  CHECK(text.find(" = gradient(") == std::string::npos);
  // The gradient with respect to w contains the product of the error and x, summed over the batch.
  CHECK(text.find("over batch") != std::string::npos);
}

TEST_CASE("it is the derivative") {
  // We compare the gradient with a difference quotient. In f64 the rounding errors of the quotient are small enough.
  mt::eager<mt::f64> s;
  auto w = s.parameter("w", in, mt::constant(0.5));
  auto loss_at = [&](auto const& v) {
    auto error = einsum(s(x), v, to(batch)) - s(y);
    return mean(error * error);
  };
  auto const derivative = s.value(gradient(loss_at(w), w));
  // For each element of w, we evaluate the loss a little above and a little below.
  double const h = 1e-6;
  for (int i = 0; i < 2; ++i) {
    mt::array<double, in> step;
    step(in(i)) = h;
    double const difference = s.value(loss_at(w + s(step)) - loss_at(w - s(step)));
    CHECK(derivative(in(i)) == doctest::Approx(difference / (2 * h)));
  }
}

TEST_CASE("descent") {
  // `mt::precision` makes the same program with another float type. After 60 steps, w₀ is close to 2.
  using in_f64 = mt::precision<fit, mt::f64>;
  mt::eager<mt::f64> s(mt::feed<"x">(x), mt::feed<"y">(y));
  for (int i = 0; i < 60; ++i) s.run(in_f64{});
  CHECK(s.get<double>("w")(in(0)) == doctest::Approx(2).epsilon(1e-3));
  // Both programs call their parameter "w". Therefore the second one starts in this scope from the fitted value, and
  // its loss is small in its first step.
  CHECK(s.run(mt::precision<fit_by_adam, mt::f64>{}).get<double>("loss").item() < 1e-3);
}

// SPDX-License-Identifier: Apache-2.0
// Lesson 8. You learn to give a part of a program a name and a gradient of its own. We call such a part a composite. A
// gradient of its own helps if the gradient of the body is slow, overflows, or is not the one that you want.
#include <doctest/doctest.h>

#include <meshtensor/emit/print.hpp>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;
using mt::to;

namespace lesson {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct width : mt::dim<"width", 2> {} width;

// softplus(x) = log(1 + exp(x)). This formula overflows for large x, and so does its gradient. Therefore the body uses
// an equal formula that is safe, and the composite brings its own gradient, the sigmoid of x.
//
// The second function computes the gradient. It takes the operands, then the results, then the cotangents of the
// results. It returns the cotangents of the operands. The cotangent of a value is the derivative of the loss with
// respect to this value.
inline constexpr auto softplus = [](auto const& x) {
  return mt::composite_with_gradient(
      "softplus", [](auto const& a) { return maximum(a, 0) + log(1 + exp(-abs(a))); },
      [](auto const& a, auto const&, auto const& dy) { return dy * sigmoid(a); }, x);
};

// This composite rounds its operand. The derivative of `floor` is 0, so no parameter before it could be trained. The
// gradient here passes the cotangent on unchanged, as if there were no rounding (a straight-through estimator).
inline constexpr auto round_through = [](auto const& x) {
  return mt::composite_with_gradient(
      "round_through", [](auto const& a) { return floor(a + 0.5); },
      [](auto const&, auto const&, auto const& dy) { return dy; }, x);
};

struct program {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, width);
    s.output("y", softplus(x));
    s.output("slope", gradient(sum(softplus(x)), x));
  }
};
}  // namespace lesson
using namespace lesson;

TEST_CASE("the graph keeps it whole, until its gradient is needed or a device wants its parts") {
  // In the recorded graph, the composite is one node with its name. This lets a device recognize it, for example to use
  // a single kernel for it.
  static constexpr mt::module traced = mt::trace<program>();
  std::string const text = text_of(traced);
  CHECK(text.find("= softplus(%0)") != std::string::npos);
  // After differentiation, its gradient is a composite, too. Its name ends in `_gradient`.
  auto const derived = mt::on_heap([] { return mt::differentiate(traced); });
  CHECK(text_of(*derived).find("= softplus_gradient(%0, ") != std::string::npos);
}

TEST_CASE("the body is the value, the gradient is the one that it brought") {
  mt::eager s;
  auto x = s(mt::array<float, width>({0, 1000}));
  auto y = softplus(x);
  // The body gives the values: log(2) for 0, and 1000 for 1000, although exp(1000) is infinite.
  CHECK(s.value(y)(width(0)) == doctest::Approx(0.693147f));
  CHECK(s.value(y)(width(1)) == 1000);
  // The derivatives are those of our gradient: sigmoid(0) = 0.5 and sigmoid(1000) = 1.
  CHECK(text_of(s.value(gradient(sum(y), x))) == "f32[width=2]\n[0.5, 1]");

  // The second composite rounds 0.6 and 2.2 to 1 and 2. Its gradient is 3, the factor behind it, for both elements.
  auto const w = s(mt::array<float, width>({0.6f, 2.2f}));
  CHECK(text_of(s.value(round_through(w))) == "f32[width=2]\n[1, 2]");
  CHECK(text_of(s.value(gradient(sum(round_through(w) * 3), w))) == "f32[width=2]\n[3, 3]");
}

TEST_CASE("the library's own softmax, norms, attention and cross entropy are composites") {
  mt::eager s;
  auto x = s(mt::array<float, batch, width>({0, 0, 1000, -1000}));
  // The body of `softmax` is safe for large values, so it does not overflow for 1000.
  CHECK(text_of(s.value(softmax(x, width))) == "f32[batch=2, width=2]\n[[0.5, 0.5],\n [1, 0]]");
  // `stop_gradient` returns its operand, but the gradient treats the result as a constant. Therefore the derivative of
  // stop_gradient(x) * x is x, not 2 x.
  CHECK(text_of(s.value(stop_gradient(x))) == text_of(s.value(x)));
  CHECK(text_of(s.value(gradient(sum(stop_gradient(x) * x), x))) == text_of(s.value(x)));
}

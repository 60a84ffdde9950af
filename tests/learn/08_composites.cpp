// SPDX-License-Identifier: Apache-2.0
// Lesson 8. A composite is a part of a program with a name. Its body is what it means; it may bring a gradient of its
// own, where the one that follows from the body is slow, unsafe, or not what is wanted.
#include <doctest/doctest.h>

#include <meshtensor/emit/print.hpp>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;
using mt::to;

namespace lesson {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct width : mt::dim<"width", 2> {} width;

// log(1 + exp x). Written like this it overflows for large x, and so does its gradient; the gradient given is the
// sigmoid. A gradient takes the operands, the results and the results' cotangents, and gives the operands' cotangents.
inline constexpr auto softplus = [](auto const& x) {
  return mt::composite_with_gradient(
      "softplus", [](auto const& a) { return maximum(a, 0) + log(1 + exp(-abs(a))); },
      [](auto const& a, auto const&, auto const& dy) { return dy * sigmoid(a); }, x);
};

// Rounds forward, lets the gradient through as if it had not.
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
  static constexpr mt::module traced = mt::trace<program>();
  std::string const text = text_of(traced);
  CHECK(text.find("= softplus(%0)") != std::string::npos);
  auto const derived = mt::on_heap([] { return mt::differentiate(traced); });
  CHECK(text_of(*derived).find("= softplus_gradient(%0, ") != std::string::npos);
}

TEST_CASE("the body is the value, the gradient is the one that it brought") {
  mt::eager s;
  auto x = s(mt::array<float, width>({0, 1000}));
  auto y = softplus(x);
  CHECK(s.value(y)(width(0)) == doctest::Approx(0.693147f));
  CHECK(s.value(y)(width(1)) == 1000);
  CHECK(text_of(s.value(gradient(sum(y), x))) == "f32[width=2]\n[0.5, 1]");

  auto const w = s(mt::array<float, width>({0.6f, 2.2f}));
  CHECK(text_of(s.value(round_through(w))) == "f32[width=2]\n[1, 2]");
  CHECK(text_of(s.value(gradient(sum(round_through(w) * 3), w))) == "f32[width=2]\n[3, 3]");
}

TEST_CASE("the library's own softmax, norms, attention and cross entropy are composites") {
  mt::eager s;
  auto x = s(mt::array<float, batch, width>({0, 0, 1000, -1000}));
  CHECK(text_of(s.value(softmax(x, width))) == "f32[batch=2, width=2]\n[[0.5, 0.5],\n [1, 0]]");
  CHECK(text_of(s.value(stop_gradient(x))) == text_of(s.value(x)));
  CHECK(text_of(s.value(gradient(sum(stop_gradient(x) * x), x))) == text_of(s.value(x)));
}

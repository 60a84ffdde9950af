// SPDX-License-Identifier: Apache-2.0
// Lesson 3. You learn to write layers, and to declare the parameters that a program trains and the state that it keeps.
// Both are declared where they are used, and nested scopes give them unique names.
#include <doctest/doctest.h>

#include <meshtensor/emit/print.hpp>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;
using mt::to;

namespace lesson {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct pixels : mt::dim<"pixels", 3> {} pixels;
inline constexpr struct hidden : mt::dim<"hidden", 2> {} hidden;
inline constexpr struct scores : mt::dim<"scores", 2> {} scores;

// A layer is a function that takes a scope and tensors. It declares a parameter by a name and dims. An initializer such
// as `mt::constant(2)` may follow. Without one, a parameter with several dims starts with normal random numbers of
// standard deviation 1/√(first extent). A parameter with at most one dim starts with zeros.
//
// This layer adds two terms: `linear`, a layer of the library with parameters of its own, and a product with our own.
inline constexpr mt::layer dense = [](mt::scope auto s, auto x, auto from, auto into) {
  auto weight = s.parameter("weight", from, into);
  auto gain = s.parameter("gain", into, mt::constant(2));
  return mt::nn::linear(s / "library", x, from, into) + einsum(x, weight, to(batch, into)) * gain;
};

struct network {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("image", mt::f32, batch, pixels);
    // The two calls get scopes with different names, s / "first" and s / "second". Therefore each call has its own
    // weights. With the same scope they would share them.
    auto h = tanh(dense(s / "first", x, pixels, hidden));
    s.output("score", dense(s / "second", h, hidden, scores));

    // A state keeps its values between steps, like a parameter, but no optimizer trains it. Without an initializer it
    // starts with zeros, also if it has several dims. `update` gives the value for the next step, so all reads in this
    // step see the old value.
    auto steps = s.state("steps", mt::i64);
    auto met = s.state("met", mt::f32, hidden, scores);
    s.update(steps, steps + 1);
    s.update(met, met + 1);
  }
};
}  // namespace lesson
using namespace lesson;

TEST_CASE("a program's parameters and state") {
  static constexpr mt::module traced = mt::trace<network>();
  std::string const text = text_of(traced);
  // The graph begins with a list of the variables. The names of the scopes form a path. For example, `linear` in the
  // scope s / "library" of the first layer declares first/library/weight. The initializer is printed after `=`.
  CHECK(text.substr(0, text.find("entry")) == R"(dims batch, pixels = 3, hidden = 2, scores = 2
parameter first/weight: f32[pixels, hidden]
parameter first/gain: f32[hidden] = 2
parameter first/library/weight: f32[pixels, hidden] = normal(1 / sqrt(extent(pixels)))
parameter first/library/bias: f32[hidden] = 0
parameter second/weight: f32[hidden, scores]
parameter second/gain: f32[scores] = 2
parameter second/library/weight: f32[hidden, scores] = normal(1 / sqrt(extent(hidden)))
parameter second/library/bias: f32[scores] = 0
state steps: i64[] = 0
state met: f32[hidden, scores] = 0
)");
}

TEST_CASE("parameters have their values by name") {
  mt::eager s(mt::feed<"image">(mt::array<float, batch, pixels>({1, 2, 3})));
  // `assign` sets a parameter by its path. We set both weights of the first layer to zero, so that the score is zero.
  for (auto const* path : {"first/library/weight", "first/weight"})
    s.assign(path, mt::array<float, pixels, hidden>({0, 0, 0, 0, 0, 0}));
  // We run two steps. The scope keeps the state between them, so both states count to 2.
  s.run(network{}), s.run(network{});
  CHECK(s.get<std::int64_t>("steps").item() == 2);
  CHECK(text_of(s.get<float>("met")) == "f32[hidden=2, scores=2]\n[[2, 2],\n [2, 2]]");
  CHECK(text_of(s.get<float>("first/gain")) == "f32[hidden=2]\n[2, 2]");
  CHECK(text_of(s.get<float>("score")) == "f32[batch=1, scores=2]\n[[0, 0]]");
}

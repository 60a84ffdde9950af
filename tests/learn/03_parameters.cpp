// SPDX-License-Identifier: Apache-2.0
// Lesson 3. Parameters and state are declared where they are used, under nested names. Layers are functions of a scope.
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

// A layer takes a scope and tensors. A parameter is a name, dims and, if wanted, how it starts; without that one with
// several dims starts as normal numbers of standard deviation 1/√(first extent), another one as zeros.
inline constexpr mt::layer dense = [](mt::scope auto s, auto x, auto from, auto into) {
  auto weight = s.parameter("weight", from, into);
  auto gain = s.parameter("gain", into, mt::constant(2));
  return mt::nn::linear(s / "library", x, from, into) + einsum(x, weight, to(batch, into)) * gain;
};

struct network {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("image", mt::f32, batch, pixels);
    auto h = tanh(dense(s / "first", x, pixels, hidden));  // s / "first" is the scope of this layer
    s.output("score", dense(s / "second", h, hidden, scores));

    auto steps = s.state("steps", mt::i64);  // what persists, and is no parameter; starts with zeros, whatever its dims
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
  for (auto const* path : {"first/library/weight", "first/weight"})
    s.assign(path, mt::array<float, pixels, hidden>({0, 0, 0, 0, 0, 0}));
  s.run(network{}), s.run(network{});
  CHECK(s.get<std::int64_t>("steps").item() == 2);
  CHECK(text_of(s.get<float>("met")) == "f32[hidden=2, scores=2]\n[[2, 2],\n [2, 2]]");
  CHECK(text_of(s.get<float>("first/gain")) == "f32[hidden=2]\n[2, 2]");
  CHECK(text_of(s.get<float>("score")) == "f32[batch=1, scores=2]\n[[0, 0]]");
}

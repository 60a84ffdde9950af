// SPDX-License-Identifier: Apache-2.0
// Lesson 7. You learn to write loops. `repeat` runs a body for many equal layers, and `scan` runs a body along a
// sequence. The graph does not grow with the number of iterations, because it contains the body only once.
#include <doctest/doctest.h>

#include <meshtensor/emit/print.hpp>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;
using mt::to;

namespace lesson {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct width : mt::dim<"width", 2> {} width;
inline constexpr struct inner : mt::dim<"inner", 2> {} inner;
inline constexpr struct length : mt::dim<"length", 3> {} length;
template <std::int64_t N>
struct layers_of : mt::dim<"layers", N> {};  // a template, because we compare networks of several depths
// The body of the loop is an ordinary layer. It does not know that it is repeated.
inline constexpr mt::layer block = [](mt::scope auto s, auto x) {
  auto h = tanh(einsum(x, s.parameter("up", width, inner), to(batch, inner)));
  return x + einsum(h, s.parameter("down", inner, width), to(batch, width));
};

// `repeat` runs the body once for each index of the dim of layers. The result of one layer is the operand of the next.
// Each layer has its own weights, so every parameter of the body gets the dim of layers as its first dim.
template <std::int64_t Depth>
struct deep {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, width);
    s.output("y", mt::repeat(s / "blocks", layers_of<Depth>{}, x, block));
  }
};

// `scan` computes a recurrence. Its body takes the carry, which is the result of the previous step, and the slice of
// the sequence for this step. It returns the next carry and a result. `scan` returns the last carry and all results,
// stacked along the dim of the sequence. In contrast to `repeat`, all steps share their parameters.
struct running_sum {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, length, width);
    auto start = s.input("start", mt::f32, width);
    auto [total, all] = mt::scan(s, length, start, x, [](auto, auto sum, auto now) {
      auto next = sum + now;
      return std::tuple(next, next);
    });
    s.output("total", total);
    s.output("all", all);
  }
};
}  // namespace lesson
using namespace lesson;

TEST_CASE("the body is recorded once, its parameters are stacked") {
  static constexpr mt::module four = mt::trace<deep<4>>(), hundred = mt::trace<deep<100>>();
  // A network of 100 layers has as many nodes as a network of 4, because both graphs contain the body once.
  CHECK(four.node_count == hundred.node_count);
  std::string const text = text_of(hundred);
  CHECK(text.find("parameter blocks/up: f32[layers, width, inner]") != std::string::npos);
  CHECK(text.find("einsum(%1, %3) over width  # 07_repeat.cpp:21 blocks") != std::string::npos);
}

TEST_CASE("every layer sees its own slice") {
  mt::eager s(mt::feed<"x">(mt::array<float, batch, width>({1, 2})));
  // From outside, a parameter of the loop is one array with the dim of layers. We set all 4 layers at once.
  using layers = layers_of<4>;
  s.assign("blocks/up", mt::array<float, layers{}, width, inner>(std::vector<float>(16)));
  s.assign("blocks/down", mt::array<float, layers{}, inner, width>(std::vector<float>(16, 1)));
  // All elements of "up" are zeros, so each layer adds tanh(0) = 0 to its operand, and the result is x itself.
  CHECK(text_of(s.run(deep<4>{}).get<float>("y")) == "f32[batch=1, width=2]\n[[1, 2]]");
}

TEST_CASE("a scan stacks what each step gives") {
  mt::eager s(mt::feed<"x">(mt::array<float, length, width>({1, 2, 3, 4, 5, 6})),
              mt::feed<"start">(mt::array<float, width>({0, 10})));
  s.run(running_sum{});
  // The last carry is the whole sum, including the start. It equals the last row of the stacked results.
  CHECK(text_of(s.get<float>("total")) == "f32[width=2]\n[9, 22]");
  CHECK(text_of(s.get<float>("all")) == "f32[length=3, width=2]\n[[1, 12],\n [4, 16],\n [9, 22]]");
}

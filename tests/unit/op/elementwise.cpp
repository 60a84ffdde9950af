// SPDX-License-Identifier: Apache-2.0
// Scalar functions of the elements of one, two or three tensors, which are broadcast by name.
#include "meshtensor/op/elementwise.hpp"

#include "meshtensor/op/reduce.hpp"
#include "meshtensor/op/slice.hpp"
#include "unit/op/values.hpp"

using namespace laws;

TEST_CASE("equals share the gradient of maximum and minimum") {
  auto const greater = [](auto, auto x) {
    return gradient(sum(maximum(slice(x, b, first, 0), slice(x, b, first, 1)) * 2), x);
  };
  auto const less = [](auto, auto x) {
    return gradient(sum(minimum(slice(x, b, first, 0), slice(x, b, first, 1)) * 2), x);
  };
  double const nan = std::nan("");
  CHECK(of(greater, {1, 1, 0, 1, 2, 0}) == numbers{1, 1, 0, 0, 2, 0});
  CHECK(of(less, {1, 1, 0, 1, 2, 0}) == numbers{1, 1, 0, 2, 0, 0});
  CHECK(of(greater, {nan, 1, 0, 1, nan, 0}) == numbers{2, 2, 0, 2, 2, 0});
  numbers const x = {1, 2, 3, 2, 2, 2};
  CHECK(of([](auto, auto v) { return gradient(sum(maximum(v, 2)), v); }, x) == numbers{0, 0.5, 1, 0.5, 0.5, 0.5});
}

TEST_CASE("a nan is the result of what gets one, as in PyTorch") {
  numbers const x = {-1, no_number, 2, 5, -inf, no_number};
  CHECK(same(of([](auto, auto v) { return maximum(v, 0); }, x), {0, no_number, 2, 5, 0, no_number}));
  CHECK(same(of([](auto, auto v) { return minimum(0, v); }, x), {-1, no_number, 0, 0, -inf, no_number}));
  CHECK(same(of([](auto, auto v) { return minimum(maximum(v, -2), 3); }, x), {-1, no_number, 2, 3, -2, no_number}));
  numbers const nans(6, no_number);
  CHECK(same(of([](auto, auto v) { return exp(v) + log(v) + sqrt(v) + rsqrt(v); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return tanh(v); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return sigmoid(v); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return erf(v); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return sin(v); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return cos(v); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return abs(floor(v)); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return power(v, 2); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return power(2, v); }, nans), nans));
}

TEST_CASE("powers are flat where the exponent is zero") {
  numbers const x = {0, 1, 2, 0, -1, 3};
  CHECK(of([](auto, auto v) { return gradient(sum(power(v, v * 0)), v); }, {0, 0, 0, 0, 0, 0}) == numbers(6, 0));
  CHECK(of([](auto, auto v) { return gradient(sum(power(v, 0)), v); }, x) == numbers(6, 0));
  CHECK(of([](auto, auto v) { return gradient(sum(gradient(sum(power(v, 1)), v) * v), v); }, x) == numbers(6, 1));
  CHECK(of([](auto, auto v) { return gradient(sum(gradient(sum(power(v, 2)), v)), v); }, x) == numbers(6, 2));
}

TEST_CASE("powers by the name that C++ has, of tensors and of numbers") {
  numbers const x = {0, 1, 2, 3, 4, 5};
  CHECK(of([](auto, auto v) { return pow(v, 2) - 1; }, x) == numbers{-1, 0, 3, 8, 15, 24});
  CHECK(of([](auto, auto v) { return pow(2, v); }, x) == numbers{1, 2, 4, 8, 16, 32});
  CHECK(of([](auto s, auto v) { return v * pow(s.number("base", 3), 2); }, x) == numbers{0, 9, 18, 27, 36, 45});
  CHECK(of([](auto s, auto v) { return v * pow(2, s.number("exponent", 3)); }, x) == numbers{0, 8, 16, 24, 32, 40});
}

TEST_CASE("a cast names its dtype behind the tensor or in brackets") {
  numbers const x = {0.5, 1.5, -2.5, 3, 4, 5};
  CHECK(of([](auto, auto v) { return cast(cast(v, mt::i32), mt::f64); }, x) == numbers{0, 1, -2, 3, 4, 5});
  CHECK(of([](auto, auto v) { return mt::cast<mt::f64>(mt::cast<mt::i32>(v)); }, x) == numbers{0, 1, -2, 3, 4, 5});
}

TEST_CASE("the gradient by a tensor whose dims are values") {
  auto const squares = [](auto, auto v) {
    mt::any_tensor<mt::f64> const any = v;
    auto const by_any = gradient(sum(any * any * v), any);
    static_assert(std::is_same_v<decltype(by_any), mt::any_tensor<mt::f64> const>);
    return by_any;
  };
  CHECK(of(squares, one_to_six) == numbers{3, 12, 27, 48, 75, 108});
}

TEST_CASE("laws of functions of one tensor") {
  hold_for_one("negate", [](auto, auto x, auto, auto...) { return -x; });
  hold_for_one("abs", [](auto, auto x, auto, auto...) { return abs(x - 1); });
  hold_for_one("exp", [](auto, auto x, auto, auto...) { return exp(x); });
  hold_for_one("log", [](auto, auto x, auto, auto...) { return log(x); });
  hold_for_one("sqrt", [](auto, auto x, auto, auto...) { return sqrt(x); });
  hold_for_one("rsqrt", [](auto, auto x, auto, auto...) { return rsqrt(x); });
  hold_for_one("sin", [](auto, auto x, auto, auto...) { return sin(x); });
  hold_for_one("cos", [](auto, auto x, auto, auto...) { return cos(x); });
  hold_for_one("tanh", [](auto, auto x, auto, auto...) { return tanh(x); });
  hold_for_one("sigmoid", [](auto, auto x, auto, auto...) { return sigmoid(x); });
  hold_for_one("erf", [](auto, auto x, auto, auto...) { return erf(x); });
}

TEST_CASE("laws of functions of two tensors, broadcast by name") {
  hold("add", [](auto, auto x, auto y, auto...) { return x + y; });
  hold("subtract", [](auto, auto x, auto y, auto...) { return x - y; });
  hold("multiply", [](auto, auto x, auto y, auto...) { return x * y; });
  hold("divide", [](auto, auto x, auto y, auto...) { return x / y; });
  hold("modulo", [](auto, auto x, auto y, auto...) { return x % y; });
  hold("modulo of negative numbers", [](auto, auto x, auto y, auto...) { return (x - 2) % y + 2 * x % (y - 3); });
  hold("power", [](auto, auto x, auto y, auto...) { return power(x, y); });
  hold("maximum", [](auto, auto x, auto y, auto...) { return maximum(x, y); });
  hold("minimum", [](auto, auto x, auto y, auto...) { return minimum(x, y); });
  hold("select", [](auto, auto x, auto y, auto...) { return select(x < y, x * 2, y); });
}

TEST_CASE("laws of functions that are flat wherever they have a slope") {
  hold_for_one("floor", [](auto, auto x, auto, auto...) { return floor(x * 5); });
  hold_for_one("sign", [](auto, auto x, auto, auto...) { return sign(x - 1); });
}

TEST_CASE("stop_gradient") {
  hold_without_gradient("its value", [](auto, auto x, auto y, auto...) { return x * stop_gradient(x + y); });
  // By x it is the gradient of x * n at the n that x + y is; by y there is none.
  auto const f = [](auto, auto x, auto y, auto...) { return sum(x * stop_gradient(x + sum(y, c)), a); };
  trial::program p = applying<decltype(f)>();
  p.fill_at_random(0.4, 1.6);
  mt::blocks const r = p.run();
  auto const x = [&](int i, int j) { return p.inputs.at("x").number_at(i * 3 + j); };
  for (int j = 0; j < 3; ++j) {
    double n = 0;
    for (int k = 0; k < 4; ++k) {
      n += p.inputs.at("y").number_at(j * 4 + k);
      CHECK(r.at("dy").number_at(j * 4 + k) == 0);
    }
    double const derivative = r.at("result").number_at(j) + 0.3;  // of the loss, by the result
    for (int i = 0; i < 2; ++i) check_close(r.at("dx").number_at(i * 3 + j), derivative * (x(i, j) + n), 1e-12);
  }
}

TEST_CASE("laws of comparisons and logic") {
  hold_without_gradient("less", [](auto, auto x, auto y, auto...) { return x < y; });
  hold_without_gradient("less_equal", [](auto, auto x, auto y, auto...) { return y <= x; });
  hold_without_gradient("equal", [](auto, auto x, auto y, auto...) { return floor(x * 2) == floor(y * 2); });
  hold_without_gradient("not_equal", [](auto, auto x, auto y, auto...) { return floor(x * 2) != floor(y * 2); });
  hold_without_gradient("and", [](auto, auto x, auto y, auto...) { return x < 1 && y < 1; });
  hold_without_gradient("or", [](auto, auto x, auto y, auto...) { return x < 1 || y < 1; });
  hold_without_gradient<uses::x>("not", [](auto, auto x, auto, auto...) { return !(x < 1); });
}

TEST_CASE("laws of casts and integers") {
  hold_without_gradient<uses::x>("to i32", [](auto, auto x, auto, auto...) { return mt::cast<mt::dtype::i32>(x * 9); });
  hold_without_gradient<uses::x>("to u8", [](auto, auto x, auto, auto...) { return mt::cast<mt::dtype::u8>(x * 99); });
  hold_without_gradient<uses::x>("to bf16", [](auto, auto x, auto, auto...) { return mt::cast<mt::dtype::bf16>(x); });
  hold_without_gradient<uses::x>("to bool",
                                 [](auto, auto x, auto, auto...) { return mt::cast<mt::dtype::boolean>(floor(x)); });
  hold_without_gradient("modulo", [](auto, auto x, auto y, auto...) {
    return mt::cast<mt::dtype::i64>(x * 99) % mt::cast<mt::dtype::i64>(y * 9 - 8);
  });
}

TEST_CASE("on ranks, some of which have no element of a dim") {
  hold_sharded(
      "broadcast by name", [](auto, auto x, auto y, auto...) { return select(x < y, x * y, power(x, y)); }, "a");
  hold_sharded(
      "broadcast by name", [](auto, auto x, auto y, auto...) { return select(x < y, x * y, power(x, y)); }, "b");
  hold_sharded(
      "broadcast by name", [](auto, auto x, auto y, auto...) { return select(x < y, x * y, power(x, y)); }, "c");
}

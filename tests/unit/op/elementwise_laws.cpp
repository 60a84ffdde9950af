// SPDX-License-Identifier: Apache-2.0
// The laws of elementwise operations.
#include "unit/op/laws.hpp"

#include "meshtensor/op/activation.hpp"

using namespace laws;

TEST_CASE("functions of one tensor") {
  hold_for_one("negate", [](auto, auto x, auto, auto...) { return -x; });
  hold_for_one("abs", [](auto, auto x, auto, auto...) { return abs(x - 1); });
  hold_for_one("exp", [](auto, auto x, auto, auto...) { return exp(x); });
  hold_for_one("log", [](auto, auto x, auto, auto...) { return log(x); });
  hold_for_one("sqrt", [](auto, auto x, auto, auto...) { return sqrt(x); });
  hold_for_one("rsqrt", [](auto, auto x, auto, auto...) { return rsqrt(x); });
  hold_for_one("sin", [](auto, auto x, auto, auto...) { return sin(x); });
  hold_for_one("cos", [](auto, auto x, auto, auto...) { return cos(x); });
}

TEST_CASE("activations") {
  hold_for_one("tanh", [](auto, auto x, auto, auto...) { return tanh(x); });
  hold_for_one("sigmoid", [](auto, auto x, auto, auto...) { return sigmoid(x); });
  hold_for_one("erf", [](auto, auto x, auto, auto...) { return erf(x); });
  hold_for_one("relu", [](auto, auto x, auto, auto...) { return relu(x - 1); });
  hold_for_one("gelu", [](auto, auto x, auto, auto...) { return gelu(x - 1); });
  hold_for_one("gelu_tanh", [](auto, auto x, auto, auto...) { return gelu_tanh(x - 1); });
  hold_for_one("silu", [](auto, auto x, auto, auto...) { return silu(x - 1); });
  hold_for_one("softsign", [](auto, auto x, auto, auto...) { return softsign(x - 1); });
}

TEST_CASE("functions of two tensors, broadcast by name") {
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

TEST_CASE("functions that are flat wherever they have a slope") {
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

TEST_CASE("comparisons and logic") {
  hold_without_gradient("less", [](auto, auto x, auto y, auto...) { return x < y; });
  hold_without_gradient("less_equal", [](auto, auto x, auto y, auto...) { return y <= x; });
  hold_without_gradient("equal", [](auto, auto x, auto y, auto...) { return floor(x * 2) == floor(y * 2); });
  hold_without_gradient("not_equal", [](auto, auto x, auto y, auto...) { return floor(x * 2) != floor(y * 2); });
  hold_without_gradient("and", [](auto, auto x, auto y, auto...) { return x < 1 && y < 1; });
  hold_without_gradient("or", [](auto, auto x, auto y, auto...) { return x < 1 || y < 1; });
  hold_without_gradient<uses::x>("not", [](auto, auto x, auto, auto...) { return !(x < 1); });
}

TEST_CASE("casts and integers") {
  hold_without_gradient<uses::x>("to i32", [](auto, auto x, auto, auto...) { return mt::cast<mt::dtype::i32>(x * 9); });
  hold_without_gradient<uses::x>("to u8", [](auto, auto x, auto, auto...) { return mt::cast<mt::dtype::u8>(x * 99); });
  hold_without_gradient<uses::x>("to bf16", [](auto, auto x, auto, auto...) { return mt::cast<mt::dtype::bf16>(x); });
  hold_without_gradient<uses::x>("to bool",
                                 [](auto, auto x, auto, auto...) { return mt::cast<mt::dtype::boolean>(floor(x)); });
  hold_without_gradient("modulo", [](auto, auto x, auto y, auto...) {
    return mt::cast<mt::dtype::i64>(x * 99) % mt::cast<mt::dtype::i64>(y * 9 - 8);
  });
}

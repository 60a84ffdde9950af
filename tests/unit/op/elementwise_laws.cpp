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
}

TEST_CASE("functions of two tensors, broadcast by name") {
  hold("add", [](auto, auto x, auto y, auto...) { return x + y; });
  hold("subtract", [](auto, auto x, auto y, auto...) { return x - y; });
  hold("multiply", [](auto, auto x, auto y, auto...) { return x * y; });
  hold("divide", [](auto, auto x, auto y, auto...) { return x / y; });
  hold("power", [](auto, auto x, auto y, auto...) { return power(x, y); });
  hold("maximum", [](auto, auto x, auto y, auto...) { return maximum(x, y); });
  hold("minimum", [](auto, auto x, auto y, auto...) { return minimum(x, y); });
  hold("select", [](auto, auto x, auto y, auto...) { return select(x < y, x * 2, y); });
}

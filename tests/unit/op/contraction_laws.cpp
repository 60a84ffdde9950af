// SPDX-License-Identifier: Apache-2.0
// The laws of contractions and reductions.
#include "unit/op/laws.hpp"

#include "meshtensor/op/softmax.hpp"

using namespace laws;
using mt::to;

TEST_CASE("einsum") {
  hold("matrix product", [](auto, auto x, auto y, auto... more) { return einsum(x, y, to(a, c, more...)); });
  hold("product without a sum", [](auto, auto x, auto y, auto... more) { return einsum(y, x, to(c, a, b, more...)); });
  hold("dims of one operand are summed",
       [](auto, auto x, auto y, auto... more) { return einsum(x, y, to(b, more...)); });
  hold("three operands", [](auto, auto x, auto y, auto... more) { return einsum(x, y, x, to(c, more...)); });
  hold_for_one("one operand", [](auto, auto x, auto, auto... more) { return einsum(x, to(b, more...)); });
  hold_for_one("one operand twice", [](auto, auto x, auto, auto... more) { return einsum(x, x, to(a, more...)); });
}

TEST_CASE("reductions") {
  hold_for_one("sum", [](auto, auto x, auto, auto...) { return sum(x, a); });
  hold("sum along two", [](auto, auto x, auto y, auto...) { return sum(x * y, a, c); });
  hold_for_one("mean", [](auto, auto x, auto, auto...) { return mean(x, b); });
  hold_for_one("max", [](auto, auto x, auto, auto...) { return max(x, b); });
  hold_for_one("min", [](auto, auto x, auto, auto...) { return min(x, a, b); });
  hold_without_gradient<uses::x>("any", [](auto, auto x, auto, auto...) { return any(x < 0.6, b); });
  hold_without_gradient("all along two", [](auto, auto x, auto y, auto...) { return all(x * y < 1.6, a, c); });
  hold_without_gradient<uses::x>("argmax", [](auto, auto x, auto, auto...) { return argmax(x, b); });
  hold_without_gradient("argmax of a product", [](auto, auto x, auto y, auto...) { return argmax(x * y, a); });
}

TEST_CASE("softmax and its kin") {
  hold_for_one("softmax", [](auto, auto x, auto, auto...) { return softmax(x, b); });
  hold("softmax of a product", [](auto, auto x, auto y, auto...) { return softmax(4 * (x * y), c); });
  hold_for_one("log_softmax", [](auto, auto x, auto, auto...) { return log_softmax(3 * x, b); });
  hold_for_one("logsumexp", [](auto, auto x, auto, auto...) { return logsumexp(3 * x, b); });
  hold_for_one("causal, then softmax", [](auto, auto x, auto, auto...) { return softmax(causal(x, a, b), b); });
}

// SPDX-License-Identifier: Apache-2.0
// The functions between the layers of networks.
#include "meshtensor/op/activation.hpp"

#include "unit/op/values.hpp"

using namespace laws;

TEST_CASE("a nan is the result of what gets one, as in PyTorch") {
  numbers const x = {-1, no_number, 2, 5, -inf, no_number};
  CHECK(same(of([](auto, auto v) { return relu(v); }, x), {0, no_number, 2, 5, 0, no_number}));
  numbers const nans(6, no_number);
  CHECK(same(of([](auto, auto v) { return mt::gelu(v); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return mt::gelu_tanh(v); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return mt::silu(v); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return mt::softsign(v); }, {-inf, -3, 0, 1, no_number, inf}),
             {no_number, -0.75, 0, 0.5, no_number, no_number}));
  // The gradient goes through relu at a nan; that of what gives nan is nan.
  CHECK(same(of([](auto s, auto v) { return derivative_of(s, v, relu(v)); }, {-1, no_number, 0, 5, -inf, inf}),
             {0, 2, 0, 1, 0, 3}));
}

TEST_CASE("relu is flat where it begins") {
  numbers const x = {1, 2, 3, 2, 2, 2};
  CHECK(of([](auto, auto v) { return gradient(sum(relu(v - 2)), v); }, x) == numbers{0, 0, 1, 0, 0, 0});
}

TEST_CASE("laws") {
  hold_for_one("relu", [](auto, auto x, auto, auto...) { return relu(x - 1); });
  hold_for_one("gelu", [](auto, auto x, auto, auto...) { return gelu(x - 1); });
  hold_for_one("gelu_tanh", [](auto, auto x, auto, auto...) { return gelu_tanh(x - 1); });
  hold_for_one("silu", [](auto, auto x, auto, auto...) { return silu(x - 1); });
  hold_for_one("softsign", [](auto, auto x, auto, auto...) { return softsign(x - 1); });
}

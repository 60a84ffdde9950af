// SPDX-License-Identifier: Apache-2.0
// The position of the greatest element along a dim.
#include "meshtensor/op/argmax.hpp"

#include "unit/op/values.hpp"

using namespace laws;

TEST_CASE("argmax gives the lowest of equals") {
  CHECK(of([](auto, auto x) { return argmax(x, b); }, {1, 7, 7, 4, 4, 4}) == numbers{1, 0});
  CHECK(of([](auto, auto x) { return argmax(x, a); }, {1, 7, 7, 1, 8, 6}) == numbers{0, 1, 0});
}

TEST_CASE("a nan is the greatest") {
  numbers const x = {-1, no_number, 2, 5, -inf, no_number};
  CHECK(of([](auto, auto v) { return argmax(v, b); }, x) == numbers{1, 2});
  CHECK(of([](auto, auto v) { return argmax(v, b); }, {no_number, inf, no_number, -inf, -inf, -inf}) == numbers{0, 0});
  CHECK(of([](auto, auto v) { return argmax(v, b); }, {1, inf, inf, no_number, inf, no_number}) == numbers{1, 0});
  CHECK(of([](auto, auto v) { return argmax(v, a); }, x) == numbers{1, 0, 1});
  CHECK(of<mt::dtype::bf16>([](auto, auto v) { return argmax(v, b); }, x) == numbers{1, 2});
}

TEST_CASE("laws") {
  hold_without_gradient<uses::x>("argmax", [](auto, auto x, auto, auto...) { return argmax(x, b); });
  hold_without_gradient("argmax of a product", [](auto, auto x, auto y, auto...) { return argmax(x * y, a); });
}

TEST_CASE("on ranks, some of which have no element of a dim") {
  hold_sharded("argmax", [](auto, auto x, auto y, auto...) { return mt::cast<mt::f64>(argmax(x, b)) * sum(y); }, "a");
  hold_sharded("argmax", [](auto, auto x, auto y, auto...) { return mt::cast<mt::f64>(argmax(x, b)) * sum(y); }, "b");
}

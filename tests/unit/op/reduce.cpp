// SPDX-License-Identifier: Apache-2.0
// Sums, means, extrema, and whether any or all hold, along some dims or all.
#include "meshtensor/op/reduce.hpp"

#include "unit/op/values.hpp"

using namespace laws;

TEST_CASE("values") {
  CHECK(of([](auto, auto x) { return sum(x); }, one_to_six) == numbers{21});
  CHECK(of([](auto, auto x) { return sum(x, a); }, one_to_six) == numbers{5, 7, 9});
  CHECK(of([](auto, auto x) { return mean(x, b); }, one_to_six) == numbers{2, 5});
  CHECK(of([](auto, auto x) { return mean(x); }, one_to_six) == numbers{3.5});
  CHECK(of([](auto, auto x) { return max(x, b); }, {-1, -2, -3, 4, 6, 5}) == numbers{-1, 6});
  CHECK(of([](auto, auto x) { return min(x, a); }, {-1, -2, -3, 4, -6, 5}) == numbers{-1, -6, -3});
  CHECK(of<mt::dtype::i32>([](auto, auto x) { return max(x); }, {-1, -2, -3, -4, -6, -5}) == numbers{-1});
  CHECK(of<mt::dtype::bf16>([](auto, auto x) { return sum(x, b); }, {256, 1, 1, 0, 0, 1}) == numbers{258, 1});
  CHECK(of([](auto, auto x) { return any(x > 2, b); }, {1, 2, 2, 0, 3, 0}) == numbers{0, 1});
  CHECK(of([](auto, auto x) { return all(x > 2, a); }, {3, 2, 3, 3, 3, 2}) == numbers{1, 0, 0});
  CHECK(of([](auto, auto x) { return sum(sum(x)); }, one_to_six) == numbers{21});
}

TEST_CASE("equals share the gradient of an extremum") {
  numbers const x = {1, 2, 3, 2, 2, 2};
  CHECK(of([](auto, auto v) { return gradient(sum(max(v, b)) * 3, v); }, x) == numbers{0, 0, 3, 1, 1, 1});
  CHECK(of([](auto, auto v) { return gradient(min(v) * 6, v); }, {1, 2, 1, 2, 1, 2}) == numbers{2, 0, 2, 0, 2, 0});
}

TEST_CASE("a nan is the extremum") {
  numbers const x = {-1, no_number, 2, 5, -inf, no_number};
  CHECK(same(of([](auto, auto v) { return max(v, b); }, x), {no_number, no_number}));
  CHECK(same(of([](auto, auto v) { return min(v, a); }, x), {-1, no_number, no_number}));
}

TEST_CASE("laws") {
  hold_for_one("sum", [](auto, auto x, auto, auto...) { return sum(x, a); });
  hold("sum along two", [](auto, auto x, auto y, auto...) { return sum(x * y, a, c); });
  hold_for_one("mean", [](auto, auto x, auto, auto...) { return mean(x, b); });
  hold_for_one("max", [](auto, auto x, auto, auto...) { return max(x, b); });
  hold_for_one("min", [](auto, auto x, auto, auto...) { return min(x, a, b); });
  hold_without_gradient<uses::x>("any", [](auto, auto x, auto, auto...) { return any(x < 0.6, b); });
  hold_without_gradient("all along two", [](auto, auto x, auto y, auto...) { return all(x * y < 1.6, a, c); });
}

TEST_CASE("on ranks, some of which have no element of a dim") {
  hold_sharded("sum", [](auto, auto x, auto y, auto...) { return sum(x * y, b, c); }, "a");
  hold_sharded("sum", [](auto, auto x, auto y, auto...) { return sum(x * y, b, c); }, "b");
  hold_sharded("sum", [](auto, auto x, auto y, auto...) { return sum(x * y, b, c); }, "c");
  hold_sharded("max", [](auto, auto x, auto, auto...) { return max(x, b); }, "a");
  hold_sharded("max", [](auto, auto x, auto, auto...) { return max(x, b); }, "b");
}

// SPDX-License-Identifier: Apache-2.0
// Elements that are moved along a dim: with ends, around them, or reversed.
#include "meshtensor/op/shift.hpp"

#include "unit/op/values.hpp"

using namespace laws;

TEST_CASE("values") {
  numbers const x = {1, 2, 3, 4, 5, 6};
  CHECK(of([](auto, auto v) { return roll(v, b, 1); }, x) == numbers{3, 1, 2, 6, 4, 5});
  CHECK(of([](auto, auto v) { return roll(v, b, -4); }, x) == numbers{2, 3, 1, 5, 6, 4});
  CHECK(of([](auto, auto v) { return roll(v, a, 3); }, x) == numbers{4, 5, 6, 1, 2, 3});
  CHECK(of([](auto, auto v) { return shift(v, b, 1); }, x) == numbers{0, 1, 2, 0, 4, 5});
  CHECK(of([](auto, auto v) { return shift(v, b, -2, 7); }, x) == numbers{3, 7, 7, 6, 7, 7});
  CHECK(of([](auto, auto v) { return shift(v, a, 5, -inf); }, x) == numbers(6, -inf));
  CHECK(of([](auto, auto v) { return reverse(v, b); }, x) == numbers{3, 2, 1, 6, 5, 4});
  // positions are rounded down, and must be numbers
  CHECK(of([](auto, auto v) { return roll(v, b, 1.5); }, x) == numbers{3, 1, 2, 6, 4, 5});
  CHECK(of([](auto, auto v) { return shift(v, b, -1.5); }, x) == numbers{3, 0, 0, 6, 0, 0});
  CHECK_THROWS_WITH_AS(of([](auto, auto v) { return roll(v, b, no_number); }, x),
                       "meshtensor R10: a position along a dim is nan: give a number between -2^53 and 2^53",
                       mt::error);
  CHECK_THROWS_WITH_AS(
      of([](auto, auto v) { return shift(v, b, -0x1p54); }, x),
      "meshtensor R10: a position along a dim is 18014398509481984: give a number between -2^53 and 2^53", mt::error);
  CHECK(of<mt::dtype::boolean>([](auto, auto v) { return shift(v, b, 1, 1); }, {0, 1, 0, 0, 0, 1}) ==
        numbers{1, 0, 1, 1, 0, 0});
}

TEST_CASE("laws") {
  hold_for_one("roll", [](auto, auto x, auto, auto...) { return roll(x * x, b, 1); });
  hold_for_one("roll by more than there is", [](auto, auto x, auto, auto...) { return roll(x, a, -7); });
  hold_for_one("shift", [](auto, auto x, auto, auto...) { return shift(x, b, 1, 2.5); });
  hold_for_one("shift to the other side", [](auto, auto x, auto, auto...) { return shift(x * x, a, -1); });
  hold("reverse", [](auto, auto x, auto y, auto...) { return reverse(x * y, b); });
}

TEST_CASE("dtypes") {
  hold_in_every_dtype("reverse", [](auto, auto x) { return reverse(x, b); });
  hold_in_every_dtype("shift", [](auto, auto x) { return shift(x, b, -1, 1); });
  hold_in_every_dtype("roll", [](auto, auto x) { return roll(x, b, 1); });
}

TEST_CASE("on ranks, some of which have no element of a dim") {
  hold_sharded("roll", [](auto, auto x, auto, auto...) { return roll(x * x, b, 1); }, "a");
  hold_sharded("roll", [](auto, auto x, auto, auto...) { return roll(x * x, b, 1); }, "b");
  hold_sharded("reverse", [](auto, auto x, auto, auto...) { return reverse(x * x, b); }, "b");
}

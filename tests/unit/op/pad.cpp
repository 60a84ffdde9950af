// SPDX-License-Identifier: Apache-2.0
// A dim that becomes a range of a longer one, with a step or backwards.
#include "meshtensor/op/pad.hpp"

#include "meshtensor/op/iota.hpp"
#include "meshtensor/op/reduce.hpp"
#include "unit/op/values.hpp"

using namespace laws;

TEST_CASE("values") {
  CHECK(of([](auto, auto x) { return pad(x, b, wide, 2, 9); }, one_to_six) ==
        numbers{9, 9, 1, 2, 3, 9, 9, 9, 4, 5, 6, 9});
  CHECK_THROWS_WITH_AS(of([](auto s, auto x) { return pad(x, b, wide, s.number("at", 4)); }, one_to_six),
                       "meshtensor R10: 'b', 3 long, padded from 4 on, reaches beyond the extent of 'wide', 6",
                       mt::error);
}

TEST_CASE("values of pads with a step") {
  CHECK(of([](auto, auto x) { return pad(x, b, wide, 1, 9, 2); }, one_to_six) ==
        numbers{9, 1, 9, 2, 9, 3, 9, 4, 9, 5, 9, 6});
  CHECK(of([](auto, auto x) { return pad(x, b, wide, 5, 0, -2); }, one_to_six) ==
        numbers{0, 3, 0, 2, 0, 1, 0, 6, 0, 5, 0, 4});
  CHECK(of([](auto s, auto x) { return gradient(sum(pad(x * x, b, wide, 5, 7, -2) * iota(s, wide, mt::f64)), x); },
           one_to_six) == numbers{10, 12, 6, 40, 30, 12});
  CHECK_THROWS_WITH_AS(
      of([](auto s, auto x) { return pad(x, b, wide, s.number("at", 0), 0, 3); }, one_to_six),
      "meshtensor R10: 'b', 3 long, padded from 0 on in steps of 3, reaches beyond the extent of 'wide', 6", mt::error);
  char const* const none = "meshtensor R10: the step of a slice or a pad is 0: give another whole number";
  CHECK_THROWS_WITH_AS(of([](auto s, auto x) { return pad(x, b, wide, 0, 0, s.number("by", 0.5)); }, one_to_six), none,
                       mt::error);
  CHECK_THROWS_WITH_AS(of([](auto, auto x) { return pad(x, b, wide, 0, 0, 0.5); }, one_to_six),
                       doctest::Contains("S03: a pad of 'b' has the step 0"), mt::error);
}

TEST_CASE("laws") {
  hold_for_one("pad", [](auto, auto x, auto, auto...) { return pad(x, b, wide, 2, 7); });
  hold_for_one("pad with a step", [](auto, auto x, auto, auto...) { return pad(x, b, wide, 1, 7, 2); });
  hold_for_one("pad backwards", [](auto, auto x, auto, auto...) { return pad(x, b, wide, 4, 7, -2); });
}

TEST_CASE("dtypes") {
  hold_in_every_dtype("pad", [](auto, auto x) { return pad(x, b, wide, 4, 1, -2); });
}

TEST_CASE("on ranks, some of which have no element of a dim") {
  hold_sharded("pad", [](auto, auto x, auto, auto...) { return pad(x * x, b, wide, 4, 7, -2); }, "a");
  hold_sharded("pad", [](auto, auto x, auto, auto...) { return pad(x * x, b, wide, 4, 7, -2); }, "b");
}

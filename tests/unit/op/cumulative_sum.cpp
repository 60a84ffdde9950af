// SPDX-License-Identifier: Apache-2.0
// Sums of the elements up to each one along a dim.
#include "meshtensor/op/cumulative_sum.hpp"

#include "unit/op/values.hpp"

using namespace laws;

TEST_CASE("values") {
  numbers const x = {1, 2, 3, 4, 5, 6};
  CHECK(of([](auto, auto v) { return cumulative_sum(v, b); }, x) == numbers{1, 3, 6, 4, 9, 15});
  CHECK(of([](auto, auto v) { return cumulative_sum(v, a); }, x) == numbers{1, 2, 3, 5, 7, 9});
  CHECK(of([](auto, auto v) { return cumulative_sum(v, b, {.exclusive = true}); }, x) == numbers{0, 1, 3, 0, 4, 9});
  CHECK(of([](auto, auto v) { return cumulative_sum(v, b, {.reverse = true}); }, x) == numbers{6, 5, 3, 15, 11, 6});
  CHECK(of([](auto, auto v) { return cumulative_sum(v, b, {.exclusive = true, .reverse = true}); }, x) ==
        numbers{5, 3, 0, 11, 6, 0});
  CHECK(of<mt::dtype::i32>([](auto, auto v) { return cumulative_sum(v, b); }, x) == numbers{1, 3, 6, 4, 9, 15});
  // bf16 is summed in f32: 256 + 1 + 1 is 258, while 256 + 1 in bf16 is 256
  CHECK(of<mt::dtype::bf16>([](auto, auto v) { return cumulative_sum(v, b); }, {256, 1, 1, 0, 0, 1}) ==
        numbers{256, 256, 258, 0, 0, 1});
}

TEST_CASE("laws") {
  hold_for_one("along the last dim", [](auto, auto x, auto, auto...) { return cumulative_sum(x, b); });
  hold_for_one("along the first dim", [](auto, auto x, auto, auto...) { return cumulative_sum(x * x, a); });
  hold_for_one("without the element itself",
               [](auto, auto x, auto, auto...) { return cumulative_sum(x, b, {.exclusive = true}); });
  hold_for_one("from the end", [](auto, auto x, auto, auto...) { return cumulative_sum(x, b, {.reverse = true}); });
  hold("of what is broadcast",
       [](auto, auto x, auto y, auto...) { return cumulative_sum(x * y, b, {.exclusive = true, .reverse = true}); });
}

TEST_CASE("on ranks, some of which have no element of a dim") {
  hold_sharded(
      "cumulative_sum", [](auto, auto x, auto, auto...) { return cumulative_sum(x * x, b, {.exclusive = true}); }, "a");
  hold_sharded(
      "cumulative_sum", [](auto, auto x, auto, auto...) { return cumulative_sum(x * x, b, {.exclusive = true}); }, "b");
}

// SPDX-License-Identifier: Apache-2.0
// Rows that are looked up.
#include "meshtensor/op/gather.hpp"

#include "meshtensor/op/argmax.hpp"
#include "unit/op/values.hpp"

using namespace laws;

TEST_CASE("values") {
  CHECK(of([](auto s, auto x) { return gather(x, iota(s, c, mt::i32) - 1, b); }, one_to_six) ==
        numbers{0, 0, 1, 4, 2, 5, 3, 6});  // c leads; the index −1 gives zeros
  CHECK(of([](auto s, auto x) { return gather(x, iota(s, a, mt::u8) + 1, b); }, one_to_six) ==
        numbers{2, 6});  // a is matched
}

TEST_CASE("laws") {
  hold_for_one("gather", [](auto s, auto x, auto, auto...) { return gather(x, rows(s), b); });
  hold("gather at the index of another tensor",
       [](auto, auto x, auto y, auto...) { return gather(x, argmax(y, c) % 2, a); });
}

TEST_CASE("dtypes") {
  hold_in_every_dtype("gather", [](auto s, auto x) { return gather(x, iota(s, c, mt::i32) - 1, b); });
}

TEST_CASE("on ranks, some of which have no element of a dim") {
  hold_sharded("gather", [](auto s, auto x, auto, auto...) { return gather(x * x, rows(s), b); }, "a");
  hold_sharded("gather", [](auto s, auto x, auto, auto...) { return gather(x * x, rows(s), b); }, "b");
}

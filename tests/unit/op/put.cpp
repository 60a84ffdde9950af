// SPDX-License-Identifier: Apache-2.0
// A tensor that is overwritten at a number, at indices, or at slices from where a tensor says.
#include "meshtensor/op/put.hpp"

#include "meshtensor/op/argmax.hpp"
#include "meshtensor/op/slice_at.hpp"
#include "unit/op/values.hpp"

using namespace laws;
using mt::to;

TEST_CASE("values") {
  CHECK(of([](auto, auto x) { return put(x, sum(x, b), b, 1); }, one_to_six) == numbers{1, 6, 3, 4, 15, 6});
  CHECK_THROWS_WITH_AS(of([](auto, auto x) { return put(x, sum(x, b), b, 3); }, one_to_six),
                       "meshtensor R10: put at 3, but the dim 'b' has 3 positions", mt::error);
  CHECK(of([](auto s, auto x) { return put(x, sum(x, b), b, iota(s, a, mt::i32) * 2); }, one_to_six) ==
        numbers{6, 2, 3, 4, 5, 15});  // a place for each a
  CHECK(of([](auto s, auto x) { return put(x, sum(x, b), b, iota(s, a, mt::i64) * 4 - 1); }, one_to_six) ==
        one_to_six);  // −1 and 3 are no places
  CHECK(of([](auto s, auto x) { return put(x, rename(x * 10, b, row), b, 2 - iota(s, row, mt::i32)); }, one_to_six) ==
        numbers{30, 20, 10, 60, 50, 40});
  CHECK(of([](auto s, auto x) { return put(x, rename(x * 10, b, row), b, iota(s, row, mt::i32) / 2); }, one_to_six) ==
        numbers{20, 30, 3, 50, 60, 6});  // of two that go to one place the last stays
}

TEST_CASE("values of slices that are put where a tensor says") {
  CHECK(of([](auto s, auto x) { return put(x, slice(x, b, part, 0) * 10, b, part, zero(s) + 1); }, one_to_six) ==
        numbers{1, 10, 20, 4, 40, 50});
  CHECK(of([](auto s, auto x) { return put(x, slice(x, b, part, 0) * 10, b, part, zero(s) + 9); }, one_to_six) ==
        numbers{1, 10, 20, 4, 40, 50});
  CHECK(of([](auto s, auto x) { return put(x, slice(x, b, part, 0) * 10, b, part, iota(s, a, mt::i32)); },
           one_to_six) == numbers{10, 20, 3, 4, 40, 50});
  // Of slices that overlap, the last one stays.
  CHECK(of(
            [](auto s, auto x) {
              auto const each = iota(s, row, mt::i32);
              return put(x, mt::cast<mt::f64>(each + 1) * slice(x, b, part, 0), b, part, each);
            },
            one_to_six) == numbers{1, 3, 6, 4, 12, 15});
  CHECK(of([](auto s, auto x) { return derivative_of(s, x, put(x, slice(x * x, b, part, 0), b, part, zero(s) + 1)); },
           one_to_six) == numbers{5, 12, 0, 17, 30, 0});  // 1 + 2 · 2 x₀, 3 · 2 x₁
}

TEST_CASE("laws") {
  hold_for_one("put", [](auto, auto x, auto, auto...) { return put(x, sum(x * x, b), b, 1); });
  hold("put repeats what one side lacks", [](auto, auto x, auto y, auto...) { return put(x, sum(y, b), a, 1); });
  hold_for_one("put at an index", [](auto s, auto x, auto, auto...) { return put(x, sum(x * x, b), b, rows(s)); });
  hold("put at the index of another tensor",
       [](auto, auto x, auto y, auto...) { return put(x * sum(y, c), sum(y, c), a, argmax(y, c) % 2); });
  hold_for_one("put of rows, of which one is put over", [](auto s, auto x, auto, auto...) {
    return put(x, rename(x * x, b, d), b, iota(s, d, mt::i32) % 2 + 1);
  });
  hold("put of rows apart and at an index of their own", [](auto s, auto x, auto y, auto...) {
    return put(x, rename(sum(y, c), b, d), b, iota(s, d, mt::i64) / 2 + argmax(x, b));
  });
  hold_for_one("put of rows that two dims tell apart, which the index has in another order",
               [](auto s, auto x, auto, auto... more) {
                 auto const all = broadcast(rename(x * x, b, d), to(d, c, more..., a)) * (iota(s, c, mt::f64) + 1);
                 return put(x, all, b, (iota(s, c, mt::i32) * 2 + iota(s, d, mt::i32)) % 3);
               });
  hold_for_one("put of a slice at a tensor", [](auto s, auto x, auto, auto...) {
    return put(x, slice(x * x, b, part, 1), b, part, sum(rows(s)) - 2);
  });
  hold_for_one("put of a slice at a start for each index",
               [](auto s, auto x, auto, auto...) { return put(x, slice(x * x, b, part, 1), b, part, rows(s)); });
  hold_for_one("put of slices that overlap", [](auto s, auto x, auto, auto...) {
    auto const each = iota(s, d, mt::i32);
    return put(x, slice(x * x, b, part, each) * mt::cast<mt::f64>(each + 1), b, part, 2 - each);
  });
}

TEST_CASE("dtypes") {
  hold_in_every_dtype("put", [](auto s, auto x) { return put(x, slice(x, b, part, 0), b, part, zero(s) + 1); });
}

TEST_CASE("on ranks, some of which have no element of a dim") {
  hold_sharded("put", [](auto, auto x, auto, auto...) { return put(x, sum(x * x, b), b, 1); }, "a");
  hold_sharded("put", [](auto, auto x, auto, auto...) { return put(x, sum(x * x, b), b, 1); }, "b");
  hold_sharded(
      "put of rows",
      [](auto s, auto x, auto, auto...) { return put(x, rename(x * x, b, d), b, iota(s, d, mt::i32) % 2 + 1); }, "b");
}

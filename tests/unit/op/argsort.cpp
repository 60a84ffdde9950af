// SPDX-License-Identifier: Apache-2.0
// Positions in ascending or descending order, and the tensor that is sorted by them.
#include "meshtensor/op/argsort.hpp"

#include "meshtensor/op/sort.hpp"
#include "unit/op/values.hpp"

using namespace laws;

TEST_CASE("sort keeps equals in order, and nan is the greatest") {
  numbers const x = {2, -1, 2, no_number, 3, -inf};
  CHECK(of([](auto, auto v) { return argsort(v, b); }, x) == numbers{1, 0, 2, 2, 1, 0});
  CHECK(of([](auto, auto v) { return argsort(v, b, mt::sort_order::descending); }, x) == numbers{0, 2, 1, 0, 1, 2});
  CHECK(same(of([](auto, auto v) { return std::get<0>(sort(v, b)); }, x), {-1, 2, 2, -inf, 3, no_number}));
  CHECK(same(of([](auto, auto v) { return std::get<0>(sort(v, b, mt::sort_order::descending)); }, x),
             {2, 2, -1, no_number, 3, -inf}));
  CHECK(of([](auto, auto v) { return std::get<0>(sort(v, a)); }, one_to_six) == one_to_six);
  CHECK(of([](auto s, auto v) { return derivative_of(s, v, std::get<0>(sort(v, b))); }, {3, 1, 2, 4, 5, 6}) ==
        numbers{3, 1, 2, 1, 2, 3});
}

TEST_CASE("laws") {
  hold_without_gradient<uses::x>("argsort", [](auto, auto x, auto, auto...) { return argsort(x, b); });
  hold_for_one("in ascending order", [](auto, auto x, auto, auto...) { return std::get<0>(sort(x, b)); });
  hold_for_one("in descending order",
               [](auto, auto x, auto, auto...) { return std::get<0>(sort(x * x, a, mt::sort_order::descending)); });
  hold("of what is broadcast", [](auto, auto x, auto y, auto...) { return std::get<0>(sort(x * y, b)); });
}

TEST_CASE("on ranks, some of which have no element of a dim") {
  hold_sharded("sort", [](auto, auto x, auto, auto...) { return std::get<0>(sort(x, b)); }, "a");
  hold_sharded("sort", [](auto, auto x, auto, auto...) { return std::get<0>(sort(x, b)); }, "b");
}

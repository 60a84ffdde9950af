// SPDX-License-Identifier: Apache-2.0
// Rows that are added where an index says.
#include "meshtensor/op/scatter_add.hpp"

#include "meshtensor/op/argmax.hpp"
#include "unit/op/values.hpp"

using namespace laws;
using mt::to;

TEST_CASE("values") {
  CHECK(of([](auto s, auto x) { return scatter_add(x, iota(s, b, mt::i64) * iota(s, a, mt::i64), row, to(row)); },
           one_to_six) == numbers{10, 5, 6});
  CHECK(of([](auto s, auto x) { return scatter_add(x, iota(s, b, mt::i32) + 1, row, to(a, row)); }, one_to_six) ==
        numbers{0, 1, 2, 0, 4, 5});  // what lies outside is lost
}

TEST_CASE("laws") {
  hold_for_one("scatter_add",
               [](auto s, auto x, auto, auto... more) { return scatter_add(x, rows(s), d, to(more..., d, b)); });
  hold_for_one("scatter_add sums what it does not keep",
               [](auto s, auto x, auto, auto... more) { return scatter_add(x, rows(s), d, to(d, more...)); });
  hold_for_one("scatter_add into one row", [](auto s, auto x, auto, auto... more) {
    return scatter_add(x, iota(s, a, mt::i32) * 0, d, to(more..., b, d));
  });
  hold_for_one("scatter_add at an index of its own",
               [](auto, auto x, auto, auto... more) { return scatter_add(x, argmax(x, a), d, to(d, more..., a)); });
  hold("scatter_add at the index of another tensor", [](auto, auto x, auto y, auto... more) {
    return scatter_add(x * sum(y, c), argmax(y, c), c, to(more..., c, a));
  });
}

TEST_CASE("on ranks, some of which have no element of a dim") {
  hold_sharded(
      "scatter_add", [](auto s, auto x, auto, auto...) { return scatter_add(x * x, rows(s), d, to(d, b)); }, "a");
  hold_sharded(
      "scatter_add", [](auto s, auto x, auto, auto...) { return scatter_add(x * x, rows(s), d, to(d, b)); }, "b");
}

// SPDX-License-Identifier: Apache-2.0
// A tensor with its dims in another order.
#include "meshtensor/op/transpose.hpp"

#include "unit/op/values.hpp"

using namespace laws;
using mt::to;

TEST_CASE("values") {
  CHECK(of([](auto, auto x) { return transpose(x, to(b, a)); }, one_to_six) == numbers{1, 4, 2, 5, 3, 6});
}

TEST_CASE("laws") {
  hold_for_one("transpose", [](auto, auto x, auto, auto... more) { return transpose(x, to(more..., b, a)); });
}

TEST_CASE("dtypes") {
  hold_in_every_dtype("transpose", [](auto, auto x) { return transpose(x, to(b, a)); });
}

TEST_CASE("on ranks, some of which have no element of a dim") {
  hold_sharded("transpose", [](auto, auto x, auto, auto...) { return transpose(x * x, to(b, a)); }, "a");
  hold_sharded("transpose", [](auto, auto x, auto, auto...) { return transpose(x * x, to(b, a)); }, "b");
}

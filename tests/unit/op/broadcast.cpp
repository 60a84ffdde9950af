// SPDX-License-Identifier: Apache-2.0
// A tensor that is repeated along dims that it lacks.
#include "meshtensor/op/broadcast.hpp"

#include "meshtensor/op/reduce.hpp"
#include "unit/op/values.hpp"

using namespace laws;
using mt::to;

TEST_CASE("values") {
  CHECK(of([](auto, auto x) { return broadcast(sum(x, b), to(part, a)); }, one_to_six) == numbers{6, 15, 6, 15});
}

TEST_CASE("laws") {
  hold_for_one("broadcast", [](auto, auto x, auto, auto... more) { return broadcast(x, to(b, d, more..., a)); });
}

TEST_CASE("dtypes") {
  hold_in_every_dtype("broadcast", [](auto, auto x) { return broadcast(x, to(b, part, first, a)); });
}

TEST_CASE("on ranks, some of which have no element of a dim") {
  hold_sharded("broadcast", [](auto, auto x, auto, auto...) { return broadcast(x * x, to(b, d, a)); }, "a");
  hold_sharded("broadcast", [](auto, auto x, auto, auto...) { return broadcast(x * x, to(b, d, a)); }, "b");
}

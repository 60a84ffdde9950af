// SPDX-License-Identifier: Apache-2.0
// A dim under another name.
#include "meshtensor/op/rename.hpp"

#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/reduce.hpp"
#include "unit/op/values.hpp"

using namespace laws;
using mt::to;

TEST_CASE("values") {
  CHECK(of([](auto, auto x) { return rename(x, b, row); }, one_to_six) == one_to_six);
}

TEST_CASE("laws") {
  hold_for_one("rename", [](auto, auto x, auto, auto...) { return rename(x, b, d); });
  hold("rename, so that two elements meet",
       [](auto, auto x, auto y, auto... more) { return einsum(x, rename(sum(y, c), b, d), to(a, b, d, more...)); });
}

TEST_CASE("dtypes") {
  hold_in_every_dtype("rename", [](auto, auto x) { return rename(x, b, row); });
}

TEST_CASE("on ranks, some of which have no element of a dim") {
  hold_sharded(
      "rename", [](auto, auto x, auto y, auto...) { return einsum(x, rename(sum(y, c), b, d), to(a, b, d)); }, "b");
}

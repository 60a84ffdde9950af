// SPDX-License-Identifier: Apache-2.0
// Merging dims into one, and splitting one into several.
#include "meshtensor/op/reshape.hpp"

#include "meshtensor/op/elementwise.hpp"
#include "unit/op/values.hpp"

using namespace laws;
using mt::to;

namespace {
inline constexpr struct ab_dim : mt::dim<"ab", a * b> {} ab;
inline constexpr struct c_1_dim : mt::dim<"c_1", 2> {} c_1;
inline constexpr struct c_2_dim : mt::dim<"c_2", 2> {} c_2;
}  // namespace

TEST_CASE("values of merge and split") {
  CHECK(of([](auto, auto x) { return merge(x, to(a, b), ab); }, one_to_six) == one_to_six);
  CHECK(of([](auto, auto x) { return merge(x, to(b, a), ab); }, one_to_six) == numbers{1, 4, 2, 5, 3, 6});
  CHECK(of([](auto, auto x) { return split(merge(x, to(b, a), ab), ab, to(b, a)); }, one_to_six) ==
        numbers{1, 4, 2, 5, 3, 6});
}

TEST_CASE("laws of merge and split") {
  hold_for_one("merge", [](auto, auto x, auto, auto...) { return merge(x, to(a, b), ab); });
  hold_for_one("merge the other way", [](auto, auto x, auto, auto...) { return merge(x, to(b, a), ab); });
  hold("split", [](auto, auto x, auto y, auto...) { return split(x * y, c, to(c_1, c_2)); });
}

TEST_CASE("dtypes") {
  hold_in_every_dtype("merge", [](auto, auto x) { return merge(x, to(b, a), ab); });
  hold_in_every_dtype("split", [](auto, auto x) { return split(merge(x, to(b, a), ab), ab, to(b, a)); });
}

TEST_CASE("on ranks, some of which have no element of a dim") {
  hold_sharded("merge", [](auto, auto x, auto, auto...) { return merge(x * x, to(b, a), ab); }, "a");
  hold_sharded("merge", [](auto, auto x, auto, auto...) { return merge(x * x, to(b, a), ab); }, "b");
  hold_sharded("split", [](auto, auto x, auto y, auto...) { return split(x * y, c, to(c_1, c_2)); }, "b");
  hold_sharded("split", [](auto, auto x, auto y, auto...) { return split(x * y, c, to(c_1, c_2)); }, "c");
}

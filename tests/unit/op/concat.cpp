// SPDX-License-Identifier: Apache-2.0
// Two tensors, one behind the other along a dim.
#include "meshtensor/op/concat.hpp"

#include "meshtensor/op/reduce.hpp"
#include "meshtensor/op/slice.hpp"
#include "unit/op/values.hpp"

using namespace laws;

namespace {
inline constexpr struct bs_dim : mt::dim<"bs", b + part> {} bs;
inline constexpr struct ac_dim : mt::dim<"ac", a + c> {} ac;
}  // namespace

TEST_CASE("values") {
  CHECK(of([](auto, auto x) { return concat(x, b, slice(x, b, part, 0), part, bs); }, one_to_six) ==
        numbers{1, 2, 3, 1, 2, 4, 5, 6, 4, 5});
}

TEST_CASE("laws") {
  hold("concat", [](auto, auto x, auto y, auto...) { return concat(sum(x * y, c), a, y, c, ac); });
  hold("concat repeats what one side lacks", [](auto, auto x, auto y, auto...) { return concat(x, a, y, c, ac); });
}

TEST_CASE("dtypes") {
  hold_in_every_dtype("concat", [](auto, auto x) { return concat(x, b, slice(x, b, part, 0), part, bs); });
}

TEST_CASE("on ranks, some of which have no element of a dim") {
  hold_sharded("concat", [](auto, auto x, auto y, auto...) { return concat(x, a, y * y, c, ac); }, "a");
  hold_sharded("concat", [](auto, auto x, auto y, auto...) { return concat(x, a, y * y, c, ac); }, "b");
  hold_sharded("concat", [](auto, auto x, auto y, auto...) { return concat(x, a, y * y, c, ac); }, "c");
}

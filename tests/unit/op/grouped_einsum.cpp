// SPDX-License-Identifier: Apache-2.0
// Products of rows with the operand of their group.
#include "meshtensor/op/grouped_einsum.hpp"

#include "meshtensor/op/argmax.hpp"
#include "meshtensor/op/rename.hpp"
#include "unit/op/values.hpp"

using namespace laws;
using mt::to;

namespace {
// -1, 1, 3 for b = 0, 1, 2: some of them out of range.
constexpr auto groups(auto s) { return iota(s, b, mt::i32) * 2 - 1; }
}  // namespace

TEST_CASE("values") {
  // Rows [1 2 3] and [4 5 6] by groups of matrices: 1 and 0, then 2, which is out of range.
  CHECK(of([](auto s, auto x) { return grouped_einsum(x, rename(x, a, part), 1 - iota(s, a, mt::i32), part, to(a)); },
           one_to_six) == numbers{32, 32});
  CHECK(of([](auto s, auto x) { return grouped_einsum(x, rename(x, a, part), iota(s, a, mt::u8) + 1, part, to(a, b)); },
           one_to_six) == numbers{4, 10, 18, 0, 0, 0});
  // The elements of each row, squared and summed in the groups 0, 0 and 2; group 1 is empty.
  CHECK(of([](auto s, auto x) { return grouped_einsum(x, x, iota(s, b, mt::i64) / 2 * 2, row, to(a, row)); },
           one_to_six) == numbers{5, 0, 9, 41, 0, 36});
  CHECK(of([](auto s, auto x) { return grouped_einsum(x, x, iota(s, b, mt::i64) - 1, row, to(row)); }, one_to_six) ==
        numbers{29, 45, 0});
  CHECK(of<mt::dtype::i32>(
            [](auto s, auto x) {
              return grouped_einsum(x, rename(rename(x, a, part), b, row), iota(s, row, mt::i32) % 2, part, to(a, b));
            },
            one_to_six) == numbers{9, 18, 27, 36, 45, 54});  // 1 + 5 + 3
}

TEST_CASE("laws") {
  hold("a vector for each row", [](auto s, auto x, auto y, auto... more) {
    return grouped_einsum(x, y, iota(s, a, mt::i32) * 2, c, to(a, more...));
  });
  hold("a number for each row, behind it",
       [](auto s, auto x, auto y, auto... more) { return grouped_einsum(y, x, groups(s), a, to(c, more..., b)); });
  hold("rows that are summed",
       [](auto s, auto x, auto y, auto... more) { return grouped_einsum(y, x, groups(s), a, to(more..., c)); });
  hold("sums of groups",
       [](auto s, auto x, auto y, auto... more) { return grouped_einsum(x, y, groups(s), d, to(a, d, more..., c)); });
  hold("sums of groups over a dim that only one operand has",
       [](auto s, auto x, auto y, auto... more) { return grouped_einsum(x, y, groups(s), d, to(d, c, more...)); });
  hold("the index of another tensor, with a dim of its own", [](auto, auto x, auto y, auto... more) {
    return grouped_einsum(sum(x, b), y, argmax(x, b), b, to(a, more..., c));
  });
  hold("a dim that only the index has", [](auto s, auto x, auto y, auto... more) {
    return grouped_einsum(x, sum(y, b), iota(s, d, mt::i64) + 1, c, to(b, d, more...));
  });
}

TEST_CASE("on ranks, some of which have no element of a dim") {
  hold_sharded(
      "a row for each group",
      [](auto s, auto x, auto y, auto...) { return grouped_einsum(y, x, groups(s), a, to(c, b)); }, "a");
  hold_sharded(
      "a row for each group",
      [](auto s, auto x, auto y, auto...) { return grouped_einsum(y, x, groups(s), a, to(c, b)); }, "b");
  hold_sharded(
      "a row for each group",
      [](auto s, auto x, auto y, auto...) { return grouped_einsum(y, x, groups(s), a, to(c, b)); }, "c");
}

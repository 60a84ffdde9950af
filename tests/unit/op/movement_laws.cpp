// SPDX-License-Identifier: Apache-2.0
// The laws of movement and of lookup.
#include "unit/op/laws.hpp"

#include "meshtensor/op/exchange_rows.hpp"
#include "meshtensor/op/gather.hpp"
#include "meshtensor/op/iota.hpp"
#include "meshtensor/op/one_hot.hpp"
#include "meshtensor/op/permute.hpp"
#include "meshtensor/op/reshard.hpp"
#include "meshtensor/op/scatter_add.hpp"
#include "meshtensor/op/slice_at.hpp"
#include "meshtensor/op/transpose.hpp"

using namespace laws;
using mt::to;

namespace {
inline constexpr struct d_dim : mt::dim<"d", 3> {} d;
inline constexpr struct part_dim : mt::dim<"part", 2> {} part;
inline constexpr struct wide_dim : mt::dim<"wide", 6> {} wide;
inline constexpr struct ab_dim : mt::dim<"ab", a * b> {} ab;
inline constexpr struct joined_dim : mt::dim<"joined", a + c> {} joined;
inline constexpr struct c_1_dim : mt::dim<"c_1", 2> {} c_1;
inline constexpr struct c_2_dim : mt::dim<"c_2", 2> {} c_2;
inline constexpr struct axis_axis : mt::axis<"axis", 2> {} axis;

// 0, 2 for a = 0, 1: rows to look up, one of them out of range if there are more than two.
constexpr auto rows(auto s) { return iota(s, a, mt::i32) * 2; }
}  // namespace

TEST_CASE("movement") {
  hold_for_one("transpose", [](auto, auto x, auto, auto... more) { return transpose(x, to(more..., b, a)); });
  hold_for_one("broadcast", [](auto, auto x, auto, auto... more) { return broadcast(x, to(b, d, more..., a)); });
  hold_for_one("rename", [](auto, auto x, auto, auto...) { return rename(x, b, d); });
  hold("rename, so that two elements meet",
       [](auto, auto x, auto y, auto... more) { return einsum(x, rename(sum(y, c), b, d), to(a, b, d, more...)); });
  hold_for_one("merge", [](auto, auto x, auto, auto...) { return merge(x, to(a, b), ab); });
  hold_for_one("merge the other way", [](auto, auto x, auto, auto...) { return merge(x, to(b, a), ab); });
  hold("split", [](auto, auto x, auto y, auto...) { return split(x * y, c, to(c_1, c_2)); });
}

TEST_CASE("parts") {
  hold_for_one("slice", [](auto, auto x, auto, auto...) { return slice(x, b, part, 1); });
  hold_for_one("pad", [](auto, auto x, auto, auto...) { return pad(x, b, wide, 2, 7); });
  hold_for_one("slice with a step", [](auto, auto x, auto, auto...) { return slice(x, b, part, 0, 2); });
  hold_for_one("slice backwards", [](auto, auto x, auto, auto...) { return slice(x, b, part, 2, -1); });
  hold_for_one("pad with a step", [](auto, auto x, auto, auto...) { return pad(x, b, wide, 1, 7, 2); });
  hold_for_one("pad backwards", [](auto, auto x, auto, auto...) { return pad(x, b, wide, 4, 7, -2); });
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
  hold_for_one("slice at a tensor", [](auto s, auto x, auto, auto...) { return slice(x, b, part, sum(rows(s))); });
  hold_for_one("slice at a start for each index, some out of range",
               [](auto s, auto x, auto, auto...) { return slice(x, b, part, rows(s) * 2 - 1); });
  hold_for_one("slice at several starts",
               [](auto s, auto x, auto, auto...) { return slice(x, b, part, iota(s, d, mt::i64)); });
  hold("slice at the start of another tensor",
       [](auto, auto x, auto y, auto...) { return slice(x * sum(y, c), a, c_1, argmax(y, c) % 2); });
  hold_for_one("put of a slice at a tensor", [](auto s, auto x, auto, auto...) {
    return put(x, slice(x * x, b, part, 1), b, part, sum(rows(s)) - 2);
  });
  hold_for_one("put of a slice at a start for each index",
               [](auto s, auto x, auto, auto...) { return put(x, slice(x * x, b, part, 1), b, part, rows(s)); });
  hold_for_one("put of slices that overlap", [](auto s, auto x, auto, auto...) {
    auto const each = iota(s, d, mt::i32);
    return put(x, slice(x * x, b, part, each) * mt::cast<mt::f64>(each + 1), b, part, 2 - each);
  });
  hold("concat", [](auto, auto x, auto y, auto...) { return concat(sum(x * y, c), a, y, c, joined); });
  hold("concat repeats what one side lacks", [](auto, auto x, auto y, auto...) { return concat(x, a, y, c, joined); });
}

TEST_CASE("exchange of rows") {
  hold_for_one("rows there and back", [](auto s, auto x, auto, auto...) {
    auto const sent = exchange_rows(x, rows(s), d);
    return return_rows(sent.rows * sent.rows, sent);
  });
  hold("two rows of each token, of which a group takes two", [](auto s, auto x, auto y, auto...) {
    auto const sent = exchange_rows(x, rows(s) + iota(s, c_1, mt::i32), d, 2);
    return return_rows(sin(sent.rows), sent) * sum(y, c);
  });
}

TEST_CASE("permute") {
  hold("rows in another order, one of them twice, one missing", [](auto s, auto x, auto y, auto...) {
    return permute(x * sum(y, c), a, 3 - 2 * iota(s, a, mt::i32)) + permute(x, a, iota(s, a, mt::i32) * 0);
  });
}

TEST_CASE("lookup") {
  hold_for_one("gather", [](auto s, auto x, auto, auto...) { return gather(x, rows(s), b); });
  hold("gather at the index of another tensor",
       [](auto, auto x, auto y, auto...) { return gather(x, argmax(y, c) % 2, a); });
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
  hold_without_gradient<uses::x>(
      "one_hot", [](auto, auto x, auto, auto...) { return one_hot(mt::cast<mt::dtype::i32>(x * 2), d, mt::f64); });
}

TEST_CASE("reshard") {
  hold("another layout, the same values",
       [](auto, auto x, auto y, auto...) { return mt::reshard(x * y, mt::shard<c, axis>{}, mt::replicate<b>{}) * y; });
}

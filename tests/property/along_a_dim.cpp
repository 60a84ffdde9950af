// SPDX-License-Identifier: Apache-2.0
// Cumulative sums, sorting and stacking under every layout, with their gradients. A cumulative sum along a sharded dim
// exchanges totals and gathers nothing of the operand's size.
// timeout: 300
#include "meshtensor/op/cumulative_sum.hpp"

#include "meshtensor/op/sort.hpp"
#include "meshtensor/op/stack.hpp"
#include "property/graph.hpp"

using namespace property;

namespace {

constexpr auto f64 = mt::dtype::f64;
constexpr mt::dtype types[] = {mt::dtype::f64, mt::dtype::bf16, mt::dtype::i32};

template <class F>
void hold(char const* what, F make, tally& t) {
  hold_for_each(types, what, make, t);
}

}  // namespace

TEST_CASE("cumulative_sum") {
  tally t;
  for (char const* along : {"a", "b", "c"})
    for (bool const exclusive : {false, true})
      for (bool const reverse : {false, true})
        hold(
            "cumulative_sum",
            [&](graph& g, mt::value_id x, mt::value_id) {
              return mt::cumulative_sum(g.b, x, g.dim(along), {exclusive, reverse});
            },
            t);
  t.say("cumulative_sum");
  at_least(16800, t.tried);
}

TEST_CASE("a cumulative sum of a cumulative sum, and of a partial sum") {
  tally t;
  hold(
      "twice",
      [](graph& g, mt::value_id x, mt::value_id) {
        return mt::cumulative_sum(g.b, mt::cumulative_sum(g.b, x, g.dim("a"), {}), g.dim("b"), {true, true});
      },
      t);
  hold(
      "of a partial sum",
      [](graph& g, mt::value_id x, mt::value_id y) {
        return mt::cumulative_sum(g.b, mt::einsum(g.b, x, y, g.dims("bd")), g.dim("b"), {});
      },
      t);
  t.say("two cumulative sums");
  at_least(2700, t.tried);
}

TEST_CASE("argsort and sort") {
  tally t;
  for (mt::sort_order const order : {mt::sort_order::ascending, mt::sort_order::descending})
    for (char const* along : {"a", "b", "c"}) {
      hold(
          "argsort", [&](graph& g, mt::value_id x, mt::value_id) { return mt::argsort(g.b, x, g.dim(along), order); },
          t);
      hold(
          "sort", [&](graph& g, mt::value_id x, mt::value_id) { return mt::sort(g.b, x, g.dim(along), order).sorted; },
          t);
    }
  t.say("argsort and sort");
  at_least(20000, t.tried);
}

TEST_CASE("stack") {
  tally t;
  hold(
      "stack",
      [](graph& g, mt::value_id x, mt::value_id y) {
        mt::value_id const all[] = {x, y, mt::negate(g.b, x)};
        return mt::stack(g.b, all, g.dim("e", {3}));
      },
      t);
  t.say("stack");
  at_least(1300, t.tried);
}

TEST_CASE("what is sharded is not gathered") {
  graph g;
  mt::value_id const x = g.input("x", f64, "ab");
  g.output("y", mt::cumulative_sum(g.b, x, g.dim("b"), {}));
  mt::mesh_shape const mesh = mt::mesh_shape{}.add("data", 2).add("model", 3);
  auto const m = partitioned(g.module(), mesh, mt::layout_rules{}.shard("b", {"data", "model"}));
  CHECK(mt::verify_layout(*m).view() == "");
  std::vector<mt::dim_extent> const extents{{mt::name("a"), 4}, {mt::name("b"), 60}};
  auto const numbers = mt::bind(*m, mesh, extents);
  REQUIRE(numbers.ok());
  int gathered = 0;
  for (int i = 0; i < m->node_count; ++i) {
    if (!mt::is_collective(m->nodes[i].kind)) continue;
    CHECK(m->nodes[i].kind == mt::primitive::all_gather);
    CHECK(numbers.local_size(m->result_value(m->nodes[i])) <= 4 * 6);
    ++gathered;
  }
  CHECK(gathered == 2);  // one for each axis
}

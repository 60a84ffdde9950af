// SPDX-License-Identifier: Apache-2.0
// Rows that are exchanged by group under every layout: loads of three to one, groups without rows, indices that name no
// group, extents that no mesh divides. Tokens and groups over one axis: rows go to their groups and come back, and
// nothing else of their size travels.
// timeout: 300
// passes: start-up
#include "support/exchange_programs.hpp"

#include "property/program.hpp"

using namespace property;
using namespace exchange_programs;

namespace {

template <class Program>
std::unique_ptr<mt::module> traced() {
  return mt::on_heap([] { return mt::trace<mt::precision<Program, mt::dtype::f64>>(); });
}

template <class Program>
tally hold(char const* what) {
  auto const m = traced<Program>();
  subject s(*m, mt::entry_name<Program>(), {});
  s.steps = 2, s.tolerance = 1e-11;
  s.fill(fill_kind::reals, rng{11}, -1.5, 1.5, 11);
  give_loads(s.inputs.at("index"));
  s.expect();
  tally t;
  auto const dims = dims_in_use(s.graph()), scopes = scopes_of(s.graph());
  rng c{1 + sample_number()};
  for (auto const& mesh : meshtensor_test::meshes()) {
    for (mt::layout_rules const& rules : layouts_of_exchanges(mesh))
      if (mesh.count < 3 || c.one_in(8)) s.check_layout(mesh, rules, t);
    for (int i = 0; i < share_of(24); ++i)
      s.check_layout(mesh, meshtensor_test::drawn_layout(dims, scopes, mesh, c), t);
  }
  t.say(what);
  return t;
}

mt::layout_rules tokens_and_groups_over_ax() {
  return mt::layout_rules{}.shard("token", {"ax"}).shard("group", {"ax"});
}

}  // namespace

TEST_CASE("all rows are sent") { at_least(100, hold<exchanged<>>("exchanged rows").tried); }

TEST_CASE("groups that take four rows take the same ones on every mesh") {
  auto const m = traced<exchanged<4>>();
  subject s(*m, mt::entry_name<exchanged<4>>(), {});
  s.fill(fill_kind::reals, rng{11});
  give_loads(s.inputs.at("index"));
  s.expect();
  mt::block const& given = s.inputs.at("index");
  mt::block const& taken = s.expected_outputs().at("index");
  int rows[5] = {}, dropped = 0;
  for (std::int64_t i = 0; i < given.size(); ++i) {
    auto const g = static_cast<int>(given.number_at(i));
    bool const takes = g >= 0 && g < 5 && rows[g]++ < 4;
    if (g >= 0 && g < 5) dropped += !takes;
    CHECK(taken.number_at(i) == (takes || g < 0 || g > 4 ? (takes ? g : taken.number_at(i)) : -1));
  }
  CHECK(rows[4] == 0);
  CHECK(rows[0] > 3 * rows[1]);
  CHECK(dropped > 30);
  at_least(100, hold<exchanged<4>>("exchanged rows, four of each group").tried);
}

TEST_CASE("rows go to their groups and come back, forward and backward") {
  auto const m = traced<exchanged<>>();
  for (std::int64_t const size : {2, 3, 4, 6, 8}) {
    mt::mesh_shape const mesh = mt::mesh_shape{}.add("ax", size);
    auto const p = partitioned(*m, mesh, tokens_and_groups_over_ax());
    CHECK(mt::verify_layout(*p).view() == "");
    auto const numbers = mt::bind(*p, mesh, {});
    REQUIRE(numbers.ok());
    int there = 0, back = 0, gathered = 0;
    for (int i = 0; i < p->node_count; ++i) {
      mt::node const& n = p->nodes[i];
      if (!mt::is_collective(n.kind)) continue;
      if (n.kind == mt::primitive::move_rows)
        ++(mt::move_rows_attributes::of(n).how == mt::row_move::back ? back : there);
      else if (n.kind == mt::primitive::all_gather) ++gathered;
      else CHECK(numbers.local_size(p->operand_value(n, 0)) <= 6);  // the loss, and the gradient of `in`
    }
    CHECK(there == 2);
    CHECK(back == 2);
    CHECK(gathered == 1);  // of the counts
  }
}

TEST_CASE("groups that are cut otherwise than their exchange has cut them do not meet its rows") {
  auto const m = traced<exchanged<>>();
  mt::mesh_shape const mesh = mt::mesh_shape{}.add("ax", 2).add("by", 3);
  auto const rules = mt::layout_rules{}
                         .shard("token", {"ax", "by"})
                         .shard("group", {"ax", "by"})
                         .shard("group", {"by", "ax"}, "groups");
  std::string const sentence(partitioned(*m, mesh, rules)->report.view());
  INFO(sentence);
  CHECK(sentence.find("S05 mesh axis 'ax' shards two dims that meet in one operation, 'group/holders' and 'group'") ==
        0);
}

TEST_CASE("a rank has room for all rows that may come") {
  auto const room = [](auto const& m, std::int64_t size) {
    mt::mesh_shape const mesh = mt::mesh_shape{}.add("ax", size);
    auto const p = partitioned(*m, mesh, tokens_and_groups_over_ax());
    auto const numbers = mt::bind(*p, mesh, {});
    for (int d = 0; d < p->dim_count; ++d)
      if (p->dims[d].kind == mt::dim_row::rows) return numbers.extent[d];
    return std::int64_t{0};
  };
  auto const all = traced<exchanged<>>(), four = traced<exchanged<4>>();
  CHECK(room(all, 1) == 70);
  CHECK(room(all, 3) == 70);
  CHECK(room(four, 1) == 20);
  CHECK(room(four, 2) == 12);  // of the three groups that the first rank holds
  CHECK(room(four, 4) == 8);
}

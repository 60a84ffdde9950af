// SPDX-License-Identifier: Apache-2.0
// Rows that come from the rows that sources name, under every layout: rows that no mesh divides, several rows a rank,
// sources that several rows name, and none. Rows travel in moves of rows alone.
// timeout: 300
// passes: start-up
#include "support/permute_programs.hpp"

#include "property/program.hpp"

using namespace property;
using namespace permute_programs;

namespace {

template <class Program>
std::unique_ptr<mt::module> traced() {
  return mt::on_heap([] { return mt::trace<mt::precision<Program, mt::dtype::f64>>(); });
}

template <class Program>
tally hold(char const* what) {
  auto const m = traced<Program>();
  subject s(*m, mt::entry_name<Program>(), {});
  s.steps = 2, s.tolerance = 1e-12;
  s.fill(fill_kind::reals, rng{11}, -1.5, 1.5, 11);
  give_sources(s.inputs.at("sources"));
  s.expect();
  tally t;
  auto const dims = dims_in_use(s.graph()), scopes = scopes_of(s.graph());
  rng c{1 + sample_number()};
  for (auto const& mesh : meshtensor_test::meshes()) {
    meshtensor_test::each_layout(dims, mesh, [&](mt::layout_rules const& rules) {
      if (mesh.count < 3 || c.one_in(4)) s.check_layout(mesh, rules, t);
    });
    for (int i = 0; i < share_of(24); ++i)
      s.check_layout(mesh, meshtensor_test::drawn_layout(dims, scopes, mesh, c), t);
  }
  t.say(what);
  return t;
}

}  // namespace

TEST_CASE("rows that meshes divide") { at_least(230, hold<permuted<8>>("permuted rows, 8").tried); }
TEST_CASE("rows that most meshes do not divide") { at_least(230, hold<permuted<7>>("permuted rows, 7").tried); }
TEST_CASE("fewer rows than ranks") { at_least(230, hold<permuted<3>>("permuted rows, 3").tried); }

TEST_CASE("rows move only over the axes of their dim, and the plan counts one row for each") {
  auto const m = traced<permuted<8>>();
  mt::mesh_shape const mesh = mt::mesh_shape{}.add("ax", 8).add("by", 2);
  auto const p = partitioned(*m, mesh, mt::layout_rules{}.shard("worker", {"ax"}).shard("inner", {"by"}));
  CHECK(mt::verify_layout(*p).view() == "");
  auto const numbers = mt::bind(*p, mesh, {});
  REQUIRE(numbers.ok());
  int moves = 0;
  for (int i = 0; i < p->node_count; ++i) {
    mt::node const& n = p->nodes[i];
    if (n.kind != mt::primitive::move_rows) continue;
    ++moves;
    CHECK(mt::axes_of_collective(n) == 1u);
    CHECK(mt::cost_of_collective(*p, numbers, n).bytes == numbers.local_bytes(p->result_value(n)));
  }
  CHECK(moves >= 2);
}

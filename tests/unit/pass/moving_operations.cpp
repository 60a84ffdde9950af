// SPDX-License-Identifier: Apache-2.0
// The table of docs/layouts.md, "What moves along a sharded dim": for each row the collectives and the bytes that a
// processor receives are those of the plan, on several meshes, with equal parts and with others.
// passes: start-up
#include "support/moving_operations.hpp"

#include <doctest/doctest.h>

#include "meshtensor/emit/print.hpp"

namespace mt = meshtensor;
using namespace moving_operations;

namespace {

struct mesh_case {
  mt::mesh_shape mesh;
  std::vector<mt::name> axes;  // those that shard
};
std::vector<mesh_case> mesh_cases() {
  std::vector<mesh_case> all;
  for (int p : {2, 3, 4, 6}) all.push_back({mt::mesh_shape{}.add("ax", p), {"ax"}});
  all.push_back({mt::mesh_shape{}.add("by", 2).add("ax", 3), {"ax"}});
  all.push_back({mt::mesh_shape{}.add("ax", 2).add("by", 2), {"ax", "by"}});
  return all;
}
bool is_same(double formula, std::int64_t bytes) { return std::abs(formula - static_cast<double>(bytes)) < 1e-6; }

}  // namespace

TEST_CASE("each row has a program, each program a row") {
  std::set<std::pair<std::string, std::string>> on_page, tried;
  for (row const& r : rows_of_page()) CHECK(on_page.emplace(r.operation, r.sharded).second);
  for (trial const& t : trials()) tried.emplace(t.operation, t.cell);
  for (auto const& [operation, sharded] : on_page) {
    INFO(operation << " | " << sharded);
    CHECK(tried.contains({operation, sharded}));
  }
  for (auto const& [operation, sharded] : tried) {
    INFO(operation << " | " << sharded);
    CHECK(on_page.contains({operation, sharded}));
  }
  CHECK(on_page.size() > 20);
}

TEST_CASE("each row is what the plan exchanges") {
  auto const page = rows_of_page();
  std::map<std::string, std::array<int, 2>> tried;  // of each row: with unequal parts, with equal ones
  for (trial const& t : trials()) {
    auto const found =
        std::ranges::find_if(page, [&](row const& r) { return r.operation == t.operation && r.sharded == t.cell; });
    if (found == page.end()) continue;  // the first test says so
    for (mesh_case const& s : mesh_cases())
      for (extents const& e : t.sizes) {
        if (t.one_axis && s.axes.size() > 1) continue;
        lowered_trial const l(t, e, s.mesh, s.axes);
        INFO(std::string(t.operation) << " | " << std::string(t.cell) << " | " << e.dim << ", " << e.other << " over "
                                      << s.axes.size() << " axes of a mesh of " << s.mesh.size() << "\n"
                                      << mt::text_of(l.low->graph));
        CHECK(l.exchanges == found->exchanges);
        std::int64_t const bytes = l.planned_bytes(t);
        CAPTURE(bytes);
        CAPTURE(l.most_bytes(found->any_parts));
        CHECK(is_same(l.most_bytes(found->any_parts), bytes));
        ++tried[found->operation + " | " + found->sharded][l.has_equal_parts ? 1 : 0];
        if (!l.has_equal_parts) continue;
        CAPTURE(l.most_bytes(found->equal_parts));
        CHECK(is_same(l.most_bytes(found->equal_parts), bytes));
      }
  }
  for (auto const& [row, count] : tried) {
    INFO(row);
    CHECK(count[0] >= 3);
    CHECK(count[1] >= 3);
  }
}

TEST_CASE("formulas") {
  std::vector<names> const two{{{"p", 2}, {"q", 0}, {"n", 3}}, {{"p", 2}, {"q", 1}, {"n", 2}}};
  CHECK(formula("(p - 1) * n + 4 / 2", two, 0).value() == 5);
  CHECK(formula("most(q * n)", two, 0).value() == 2);
  CHECK(formula("both(0, n, 1, 7) - min(q, 5, n)", two, 1).value() == 0);
  CHECK(formula("reduced(8000)", two, 0).value() == 8000);
  CHECK_THROWS(formula("x", two, 0).value());
  CHECK_THROWS(formula("(n", two, 0).value());
  CHECK_THROWS(formula("least(n)", two, 0).value());
}

// SPDX-License-Identifier: Apache-2.0
// The drawing is a well-formed DOT file with every node, and Graphviz takes it where it is installed.
#include "meshtensor/emit/graphviz.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "meshtensor/pass/partition.hpp"
#include "unit/pass/programs.hpp"

using namespace meshtensor_test;

namespace {

/// Braces, brackets and quotes in pairs; every statement closed.
bool well_formed(std::string const& dot) {
  int braces = 0, brackets = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < dot.size(); ++i) {
    char const c = dot[i];
    if (quoted) {
      if (c == '\\') ++i;
      else if (c == '"') quoted = false;
      else if (c == '\n') return false;
      continue;
    }
    quoted = c == '"';
    braces += (c == '{') - (c == '}');
    brackets += (c == '[') - (c == ']');
    if (braces < 0 || brackets < 0 || brackets > 1) return false;
  }
  return braces == 0 && brackets == 0 && !quoted;
}

int count(std::string const& text, std::string const& what) {
  int n = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++n;
  return n;
}

void check(mt::module const& m) {
  std::string const dot = mt::graphviz(m);
  CAPTURE(dot);
  CHECK(well_formed(dot));
  CHECK(count(dot, "subgraph cluster_") == m.region_count);
  for (int i = 0; i < m.node_count; ++i) CHECK(count(dot, "  n" + std::to_string(i) + " [label=") == 1);
  if (std::system("dot -V >/dev/null 2>&1") != 0) return;
  std::ofstream("graphviz_test.dot") << dot;
  CHECK(std::system("dot -Tsvg -o graphviz_test.svg graphviz_test.dot") == 0);
  std::remove("graphviz_test.dot");
  std::remove("graphviz_test.svg");
}

}  // namespace

TEST_CASE_TEMPLATE("every node and region is drawn", P, network, deep, recurrent, branching, composed, both) {
  check(traced<P>);
}

TEST_CASE("what is not well formed is seen by this test") {
  CHECK_FALSE(well_formed("digraph { a [label=\"x]; }"));
  CHECK_FALSE(well_formed("digraph { subgraph b { }"));
  CHECK_FALSE(well_formed("digraph { } }"));
  CHECK(well_formed("digraph { a [label=\"quote \\\" and { brace\"]; }"));
}

TEST_CASE("communication is coloured, edges have dims and layouts") {
  mt::layout_rules rules{};
  rules.shard("batch", {"data"});
  std::unique_ptr<mt::module> const p(
      new mt::module(mt::partition(traced<evaluate>, mt::mesh_shape{}.add("data", 3), rules)));
  REQUIRE(p->report.empty());
  check(*p);
  CHECK(mt::graphviz(*p).find("[label=\"batch/data, in\"]") != std::string::npos);
  rules = {};
  rules.shard("in", {"data"});
  std::unique_ptr<mt::module> const q(
      new mt::module(mt::partition(traced<evaluate>, mt::mesh_shape{}.add("data", 2), rules)));
  REQUIRE(q->report.empty());
  CHECK(mt::graphviz(*q).find("all_reduce data\"") != std::string::npos);
  CHECK(mt::graphviz(*q).find("fillcolor=orange") != std::string::npos);
}

TEST_CASE("a loop that may end early says so") {
  std::string const text = mt::graphviz(traced<branching>), of_a_fixed_one = mt::graphviz(traced<deep>);
  CHECK(text.find("repeat cond/") != std::string::npos);
  CHECK(text.find(", or less often\"") != std::string::npos);
  CHECK(of_a_fixed_one.find("repeat ") != std::string::npos);
  CHECK(of_a_fixed_one.find("or less often") == std::string::npos);
}

TEST_CASE("names that a drawing must escape") {
  std::unique_ptr<mt::module> const m(new mt::module(traced<evaluate>));
  for (int i = 0; i < m->name_count; ++i)
    if (m->names[i] == mt::name("batch")) m->names[i] = mt::name("a \"b\" \\ {");
  CHECK(well_formed(mt::graphviz(*m)));
}

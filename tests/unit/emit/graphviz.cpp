// SPDX-License-Identifier: Apache-2.0
// The drawing is a well-formed DOT file with every node, and Graphviz takes it where it is installed.
#include "meshtensor/emit/graphviz.hpp"

#include <doctest/doctest.h>

#include <algorithm>
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

/// Graphviz takes it, where it is installed.
void check_by_dot(std::string const& dot) {
  CAPTURE(dot);
  CHECK(well_formed(dot));
  if (std::system("dot -V >/dev/null 2>&1") != 0) return;
  std::ofstream("graphviz_test.dot") << dot;
  CHECK(std::system("dot -Tsvg -o graphviz_test.svg graphviz_test.dot") == 0);
  std::remove("graphviz_test.dot");
  std::remove("graphviz_test.svg");
}
void check(mt::module const& m) {
  std::string const dot = mt::graphviz(m, mt::graph_detail::nodes);
  CHECK(count(dot, "subgraph cluster_r") == m.region_count);
  for (int i = 0; i < m.node_count; ++i) CHECK(count(dot, "  n" + std::to_string(i) + " [label=") == 1);
  check_by_dot(dot);
  check_by_dot(mt::graphviz(m, mt::graph_detail::scopes));
}

inline constexpr struct depth : mt::dim<"depth", 7> {} depth;
inline constexpr struct steps : mt::dim<"steps"> {} steps;

inline constexpr mt::layer scaled = [](mt::scope auto s, auto x) {
  return tanh(x * s.parameter("w", in) + s.parameter("b", in));
};
inline constexpr mt::layer block = [](mt::scope auto s, auto x) {
  return scaled(s / "right", x) + scaled(s / "left", x);
};
inline constexpr mt::layer outer = [](mt::scope auto s, auto x) { return block(s / "block", x); };

/// Scopes outside of loops and in them.
struct in_scopes {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = scaled(s / "first", s.input("x", mt::f32, batch, in));
    auto const y = repeat(s / "loop", depth, x, outer);
    s.output("y", scaled(s / "last", repeat(s / "open", steps, y, scaled)));
  }
};
std::string in_boxes(mt::module const& m, int most) {
  return mt::detail::drawing(m, mt::graph_detail::scopes, nullptr, most).text();
}

}  // namespace

TEST_CASE_TEMPLATE("every node and region is drawn", P, network, deep, recurrent, branching, composed, both) {
  check(traced<P>);
}

TEST_CASE("scopes are boxes within each other") {
  std::string const dot = mt::graphviz(traced<in_scopes>, mt::graph_detail::nodes);
  for (char const* scope : {"first", "loop", "block", "left", "right", "last", "open"}) {
    CAPTURE(scope);
    CHECK(dot.find("label=\"" + std::string(scope) + "\";") != dot.npos);
  }
  auto const block = dot.find("label=\"block\";"), left = dot.find("label=\"left\";"),
             right = dot.find("label=\"right\";");
  auto const indent = [&](std::size_t where) { return where - dot.rfind('\n', where); };
  CHECK(block < left);
  CHECK(indent(left) == indent(block) + 2);
  CHECK(indent(right) == indent(left));
  check_by_dot(dot);
}

TEST_CASE("a large graph has a vertex for each scope, and an edge for all values between two") {
  mt::module const& m = traced<in_scopes>;
  std::string const dot = mt::graphviz(m, mt::graph_detail::scopes);
  CAPTURE(dot);
  for (int i = 0; i < m.node_count; ++i) CHECK(count(dot, "  n" + std::to_string(i) + " [") == 0);
  CHECK(dot.find("[label=\"left\\nadd\\nmultiply\\ntanh\"") != dot.npos);
  CHECK(dot.find("label=\"repeat depth, 7 times: body\"") != dot.npos);
  CHECK(dot.find("label=\"repeat steps: body\"") != dot.npos);  // not known before start-up
  CHECK(count(dot, "subgraph cluster_r") == m.region_count);
  check_by_dot(dot);
  // Of each pair of vertices one edge.
  std::vector<std::string> edges;
  for (auto at = dot.find(" -> "); at != dot.npos; at = dot.find(" -> ", at + 1))
    edges.push_back(dot.substr(dot.rfind('\n', at), dot.find(" [", at) - dot.rfind('\n', at)));
  CHECK(edges.size() >= 5);
  auto const vertex = [&](std::string const& label) {
    auto const end = dot.find(" [label=\"" + label), begin = dot.rfind(' ', end - 1) + 1;
    return dot.substr(begin, end - begin);
  };
  // Into the first loop and out of it; no scope has an edge to itself.
  CHECK(dot.find("  " + vertex("first\\n") + " -> " + vertex("left\\nadd")) != dot.npos);
  for (std::string const& e : edges) CHECK(e.substr(3, e.find(' ', 3) - 3) != e.substr(e.rfind(' ') + 1));
  std::vector<std::string> once = edges;
  std::ranges::sort(once);
  once.erase(std::unique(once.begin(), once.end()), once.end());
  CHECK(once.size() == edges.size());
  CHECK(dot.find("2 tensors\", penwidth=2") != dot.npos);  // both sides of the block read parameters
}

TEST_CASE("the number of iterations is that of the plan") {
  auto const numbers = std::make_unique<mt::binding>();
  mt::module const& m = traced<in_scopes>;
  for (int d = 0; d < m.dim_count; ++d) numbers->extent[d] = 11;
  std::string const dot = mt::graphviz(m, mt::graph_detail::scopes, numbers.get());
  CHECK(dot.find("label=\"repeat steps, 11 times: body\"") != dot.npos);
}

TEST_CASE("inner scopes are left out where there are too many") {
  mt::module const& m = traced<in_scopes>;
  auto const boxes = [](std::string const& dot) { return count(dot, ", tooltip="); };
  std::string const all = in_boxes(m, 1000), fewer = in_boxes(m, 8);
  CHECK(all.find("[label=\"left\\n") != all.npos);
  CHECK(fewer.find("left") == fewer.npos);
  CHECK(boxes(fewer) < boxes(all));
  CHECK(fewer.find("[label=\"block\\n") != fewer.npos);
  check_by_dot(fewer);
  CHECK(boxes(in_boxes(m, 1)) >= 1);  // one for each region, at least
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
  CHECK(mt::graphviz(*p, mt::graph_detail::nodes).find("[label=\"batch/data, in\"]") != std::string::npos);
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

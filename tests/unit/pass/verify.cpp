// SPDX-License-Identifier: Apache-2.0
// verify: what passes is right, and each kind of damage is found, with the node and the user's line.
#include "meshtensor/pass/verify.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "meshtensor/pass/simplify.hpp"
#include "unit/pass/programs.hpp"

using namespace meshtensor_test;

namespace {

/// The finding in a traced program after some damage.
template <class Program, class F>
std::string found(F const& damage) {
  std::unique_ptr<mt::module> const m(new mt::module(traced<Program>));
  damage(*m);
  return std::string(mt::verify(*m).view());
}
bool says(std::string const& finding, char const* sentence) {
  return finding.substr(0, 4) == "G40 " && finding.find(sentence) != std::string::npos;
}

mt::node& first(mt::module& m, mt::primitive kind) {
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == kind) return m.nodes[i];
  FAIL("the program has no such node");
  return m.nodes[0];
}
mt::node& first(mt::module& m, mt::function f) {
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == mt::primitive::elementwise && m.nodes[i].function == static_cast<std::uint8_t>(f))
      return m.nodes[i];
  FAIL("the program has no such node");
  return m.nodes[0];
}
mt::region& body(mt::module& m, mt::node const& n, int k = 0) { return m.regions[m.region_of(n, k)]; }

}  // namespace

TEST_CASE("traced programs are right, in the compiler and at run time") {
  static_assert(mt::verify(traced<network>).empty());
  static_assert(mt::verify(traced<branching>).empty());
  CHECK(mt::verify(traced<deep>).view() == "");
  CHECK(mt::verify(traced<recurrent>).view() == "");
  CHECK(mt::verify(traced<composed>).view() == "");
}

TEST_CASE("a finding names the node and the line") {
  auto const finding =
      found<network>([](mt::module& m) { m.values[m.result(first(m, mt::function::tanh))].dims.count = 1; });
  CAPTURE(finding);
  CHECK(says(finding, "a result has another dtype or other dims than its operation (node %"));
  CHECK(finding.find(" tanh, programs.hpp:") != std::string::npos);
  CHECK(finding.find('/') == std::string::npos);
}

TEST_CASE("ids and order") {
  CHECK(says(found<network>([](mt::module& m) { first(m, mt::function::tanh).operands.count = 0; }),
             "another number of operands"));
  CHECK(says(found<network>([](mt::module& m) {
               mt::node const& n = first(m, mt::function::tanh);
               m.links[n.operands.first] = m.result(n);
             }),
             "an operand is not made before its user"));
  CHECK(says(found<network>([](mt::module& m) { m.links[first(m, mt::function::tanh).operands.first] = mt::no_id; }),
             "an operand is not made before its user"));
  CHECK(says(found<network>([](mt::module& m) { first(m, mt::function::tanh).region = mt::region_id{7}; }),
             "a region that does not exist"));
  CHECK(says(found<network>([](mt::module& m) { first(m, mt::function::tanh).site = mt::site_id{4000}; }),
             "a path or line"));
  CHECK(says(found<network>([](mt::module& m) { first(m, mt::function::tanh).operands.first = 60000; }),
             "table of links"));
  CHECK(says(
      found<network>([](mt::module& m) { m.values[m.result(first(m, mt::function::tanh))].node = mt::node_id{0}; }),
      "a result belongs to another node"));
  CHECK(says(found<network>([](mt::module& m) { m.values[m.result(first(m, mt::function::tanh))].dims.at[1] = 0; }),
             "a dtype or dims that are not there"));
  CHECK(says(found<network>([](mt::module& m) { m.dims[0].label = mt::name_id{500}; }), "a dim has no name"));
  CHECK(says(
      found<branching>([](mt::module& m) { m.numbers[0] = {mt::number_row::expression, mt::function::exp, 0, 0, 0}; }),
      "a number is computed from one that does not exist"));
  CHECK(says(found<branching>([](mt::module& m) {
               m.numbers[0] = {mt::number_row::updates, mt::function::copy, 999, mt::no_id, 0};
             }),
             "a number is computed from one that does not exist"));
}

TEST_CASE("regions") {
  CHECK(says(found<deep>([](mt::module& m) { body(m, first(m, mt::primitive::repeat)).parent = mt::region_id{1}; }),
             "another parent"));
  CHECK(says(found<deep>([](mt::module& m) {
               mt::node const& n = first(m, mt::primitive::repeat);
               mt::module const& c = m;
               m.nodes[m.values[c.link(body(m, n).arguments, 0)].node].attribute[0] = 1;
             }),
             "a region does not list an argument, or lists another"));
  CHECK(says(found<deep>([](mt::module& m) {  // one twice, and another not at all
               mt::list const arguments = body(m, first(m, mt::primitive::repeat)).arguments;
               m.links[arguments.first + 1] = m.links[arguments.first];
             }),
             "a region does not list an argument, or lists another"));
  CHECK(says(found<deep>([](mt::module& m) {  // two for one place
               mt::list const arguments = body(m, first(m, mt::primitive::repeat)).arguments;
               m.nodes[m.values[m.links[arguments.first + 1]].node].attribute[0] = 0;
             }),
             "a region does not list an argument, or lists another"));
  CHECK(says(found<deep>([](mt::module& m) {
               mt::node const& n = first(m, mt::primitive::repeat);
               m.links[body(m, n).arguments.first] = m.links[body(m, n).results.first];
             }),
             "an argument"));
  CHECK(says(found<deep>([](mt::module& m) {
               mt::node const& n = first(m, mt::primitive::repeat);
               m.links[body(m, n).results.first] = m.operand(n, 0);
             }),
             "a region returns a value of another region"));
  CHECK(says(found<deep>([](mt::module& m) { first(m, mt::primitive::repeat).regions.count = 0; }),
             "another number of operands"));
  CHECK(says(found<deep>([](mt::module& m) {
               mt::loop l = mt::loop::of(first(m, mt::primitive::repeat));
               l.carries = 9;
               l.store(first(m, mt::primitive::repeat));
             }),
             "fewer operands or results than it counts"));
  CHECK(says(found<branching>([](mt::module& m) {
               mt::loop l = mt::loop::of(first(m, mt::primitive::repeat));
               l.reversed = true;
               mt::node& n = first(m, mt::primitive::repeat);
               l.store(n);
               m.links[body(m, n).results.first] = m.links[body(m, n).results.first + 1];
             }),
             "a loop that may end early does not carry its number first"));
  CHECK(says(found<branching>([](mt::module& m) {
               mt::node& n = first(m, mt::primitive::repeat);
               for (int i = 0; i < m.node_count; ++i)
                 if (m.nodes[i].kind == mt::primitive::repeat) m.nodes[i].regions = n.regions;
             }),
             "a region that is not there, or another's"));
  CHECK(says(found<branching>([](mt::module& m) {
               m.regions[m.region_count++] = {mt::region_kind::body, false, mt::no_id, mt::region_id{0}, {}, {}};
             }),
             "a region has no owner"));
}

TEST_CASE("variables, inputs and outputs") {
  auto const write_twice = [](mt::module& m) {
    mt::node* second = nullptr;
    for (int i = 0; i < m.node_count; ++i)
      if (m.nodes[i].kind == mt::primitive::write) second = &m.nodes[i];
    second->attribute[0] = first(m, mt::primitive::write).attribute[0];
    m.values[m.operand(*second, 0)].dims = m.variables[second->attribute[0]].dims;
  };
  CHECK(found<network>(write_twice).substr(0, 4) == "G40 ");
  CHECK(says(found<network>([](mt::module& m) { first(m, mt::primitive::write).effect = false; }),
             "a write, an output or a watch has no effect"));
  CHECK(says(found<network>([](mt::module& m) { first(m, mt::primitive::write).attribute[1] = 999; }),
             "a write counts under a path that is not there"));
  CHECK(says(found<network>([](mt::module& m) { first(m, mt::primitive::output).effect = false; }),
             "a write, an output or a watch has no effect"));
  CHECK(says(found<network>([](mt::module& m) { first(m, mt::primitive::read).attribute[0] = 300; }),
             "a node has no variable"));
  CHECK(says(found<network>([](mt::module& m) { first(m, mt::primitive::input).attribute[0] = 500; }),
             "a node has no name"));
}

TEST_CASE("one variable is written once in each of several entries") {
  static constexpr mt::module two = mt::trace<mt::programs<network, deep>>();
  CHECK(mt::verify(two).view() == "");
  std::unique_ptr<mt::module> const m(new mt::module{});
  mt::builder b(*m);
  mt::shape const none{};
  mt::name_id const name = b.intern("w");
  m->variables[m->variable_count++] = {b.add_path(mt::no_id, name),
                                       mt::dtype::f32,
                                       true,
                                       mt::initializer_kind::automatic,
                                       b.literal(0),
                                       none,
                                       0,
                                       0,
                                       {},
                                       {},
                                       0,
                                       false,
                                       {},
                                       0,
                                       false,
                                       {}};
  for (int entry = 0; entry < 2; ++entry) {
    b.begin_region(mt::region_kind::entry, name);
    b.region = static_cast<mt::region_id>(entry);
    mt::value_id const w = b.add(mt::primitive::read, {}, mt::dtype::f32, none, {{0}});
    m->nodes[b.add_node(mt::primitive::write, 0, mt::ids(&w, 1), {{0}})].effect = true;
    m->regions[entry].parent = mt::no_id;
  }
  CHECK(mt::verify(*m).view() == "");
  mt::value_id const again = m->result(m->nodes[0]);
  b.region = {};
  m->nodes[b.add_node(mt::primitive::write, 0, mt::ids(&again, 1), {{0}})].effect = true;
  CHECK(says(std::string(mt::verify(*m).view()), "a variable is written twice in one step"));
}

TEST_CASE("the finding of a pass comes first") {
  CHECK(found<network>([](mt::module& m) { m.report << "S04 the layout names an axis"; }) ==
        "S04 the layout names an axis");
}

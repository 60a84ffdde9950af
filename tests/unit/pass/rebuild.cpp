// SPDX-License-Identifier: Apache-2.0
// rebuild: a copy is the same module; nodes can be replaced, left out and added.
#include "meshtensor/pass/rebuild.hpp"

#include <doctest/doctest.h>

#include "meshtensor/emit/print.hpp"
#include "meshtensor/graph/spell.hpp"
#include "meshtensor/pass/verify.hpp"
#include "unit/pass/results.hpp"

using namespace meshtensor_test;

namespace {

constexpr mt::module copied(mt::module const& m) {
  mt::module result{};
  mt::rebuild w(m, result);
  for (int i = 0; i < m.node_count; ++i) w.copy(m.nodes[i]);
  return result;
}

constexpr bool is(mt::node const& n, mt::function f) {
  return n.kind == mt::primitive::elementwise && n.function == static_cast<std::uint8_t>(f);
}

}  // namespace

TEST_CASE_TEMPLATE("a copy is the same", P, network, deep, recurrent, carried, branching, composed, noisy, moved,
                   guarded, both) {
  auto const c = made([] { return copied(traced<P>); });
  CHECK(mt::text_of(*c) == mt::text_of(traced<P>));
  CHECK(mt::verify(*c).view() == "");
  CHECK(c->value_count == traced<P>.value_count);
  CHECK(c->region_count == traced<P>.region_count);
  CHECK(c->number_count == traced<P>.number_count);
}

TEST_CASE("a node is replaced by its operand, also inside a loop") {
  auto const c = made([] {
    mt::module result{};
    mt::module const& m = traced<deep>;
    mt::rebuild w(m, result);
    for (int i = 0; i < m.node_count; ++i) {
      mt::node const& n = m.nodes[i];
      if (is(n, mt::function::tanh)) w.replace(m.result(n), w[m.operand(n, 0)]);
      else w.copy(n);
    }
    return result;
  });
  CHECK(mt::verify(*c).view() == "");
  CHECK(c->node_count == traced<deep>.node_count - 2);
  for (int i = 0; i < c->node_count; ++i) CHECK_FALSE(is(c->nodes[i], mt::function::tanh));
}

TEST_CASE("a node is replaced by others, made where it stood") {
  auto const c = made([] {
    mt::module result{};
    mt::module const& m = traced<deep>;
    mt::rebuild w(m, result);
    for (int i = 0; i < m.node_count; ++i) {
      mt::node const& n = m.nodes[i];
      if (!is(n, mt::function::tanh)) {
        w.copy(n);
        continue;
      }
      w.enter(n);
      mt::value_id const x = w[m.operand(n, 0)];
      mt::value_id const twice = mt::add(w.b, x, x);
      w.replace(m.result(n), mt::elementwise(w.b, mt::function::sigmoid, twice));
    }
    return result;
  });
  CHECK(mt::verify(*c).view() == "");
  CHECK(c->node_count == traced<deep>.node_count + 2);
  for (int i = 0; i < c->node_count; ++i) {
    if (!is(c->nodes[i], mt::function::sigmoid)) continue;
    CHECK(c->regions[c->nodes[i].region].kind == mt::region_kind::body);
    CHECK(mt::speller(*c).origin(c->nodes[i]).find(" blocks") != std::string::npos);
  }
}

TEST_CASE("a loop loses the carries, inputs and outputs that have no new value") {
  // The carry that matters only to itself: without its argument and what is made of it, it leaves the loop.
  auto const c = made([] {
    mt::module result{};
    mt::module const& m = traced<recurrent>;
    mt::rebuild w(m, result);
    bool wanted[mt::max_values] = {};
    for (bool& all : wanted) all = true;
    w.wanted = wanted;
    bool gone[mt::max_values] = {};
    for (int i = 0; i < m.node_count; ++i) {
      mt::node const& n = m.nodes[i];
      bool drop = n.kind == mt::primitive::argument && n.attribute[0] == 1;
      for (int k = 0; k < n.operands.count && n.regions.count == 0; ++k) drop = drop || gone[m.operand(n, k)];
      if (n.kind == mt::primitive::repeat) wanted[m.result(n, 4)] = false;
      if (drop) gone[m.result(n)] = true;
      else w.copy(n);
    }
    return result;
  });
  CAPTURE(mt::text_of(*c));
  CHECK(mt::verify(*c).view() == "");
  for (int i = 0; i < c->node_count; ++i) {
    if (c->nodes[i].kind != mt::primitive::repeat) continue;
    CHECK(mt::loop::of(c->nodes[i]).carries == 1);
    CHECK(c->nodes[i].results.count == 3);
  }
}

TEST_CASE("in the compiler as at run time") {
  static constexpr mt::module c = copied(traced<recurrent>);
  static_assert(mt::verify(c).empty());
  CHECK(mt::text_of(c) == mt::text_of(traced<recurrent>));
}

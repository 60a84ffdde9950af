// SPDX-License-Identifier: Apache-2.0
// Questions of the tests of passes about a module: how often it has something, and whether it computes what another
// one does.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <random>

#include "meshtensor/array/interpret.hpp"
#include "meshtensor/pass/bind.hpp"
#include "unit/pass/programs.hpp"

namespace meshtensor_test {

template <class F>
std::unique_ptr<mt::module> made(F const& f) {
  return std::unique_ptr<mt::module>(new mt::module(f()));
}

inline int count(mt::module const& m, mt::primitive kind) {
  int n = 0;
  for (int i = 0; i < m.node_count; ++i) n += m.nodes[i].kind == kind;
  return n;
}
inline int count(mt::module const& m, mt::function f) {
  int n = 0;
  for (int i = 0; i < m.node_count; ++i)
    n += m.nodes[i].kind == mt::primitive::elementwise && m.nodes[i].function == static_cast<std::uint8_t>(f);
  return n;
}

// Every input of an entry: floats of both signs, zeros and negative zeros among them.
inline mt::blocks random_inputs(mt::module const& m, int entry, mt::binding const& b, unsigned seed) {
  mt::blocks inputs;
  std::mt19937 random(seed);
  for (int i = 0; i < m.node_count; ++i) {
    mt::node const& n = m.nodes[i];
    if (n.kind != mt::primitive::input || n.region != entry) continue;
    mt::block x(m.result_value(n).type, m.result_value(n).dims, b);
    for (std::int64_t k = 0; k < x.size(); ++k) {
      if (!mt::is_float(x.type())) {  // from -1 to 6
        x.set(k, static_cast<double>(random() % 8) - 1);
        continue;
      }
      double const r = static_cast<double>(random() % 2001) / 1000.0 - 1.0;
      x.set(k, random() % 8 == 0 ? -0.0 : random() % 8 == 1 ? 0.0 : r);
    }
    inputs[m.names[n.attribute[0]].text()] = x;
  }
  return inputs;
}

inline void check_same(mt::blocks const& a, mt::blocks const& b) {
  REQUIRE(a.size() == b.size());
  for (auto const& [name, x] : a) {
    CAPTURE(name);
    REQUIRE(b.count(name) == 1);
    mt::block const& y = b.at(name);
    REQUIRE(x.bytes() == y.bytes());
    CHECK(std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.bytes())) == 0);
  }
}

/// Two steps of every entry, before and after, from the same start.
inline void check_equal_results(mt::module const& before, mt::module const& after) {
  auto const b = mt::bind(before, mt::mesh_shape{});
  REQUIRE(b.report.empty());
  for (int r = 0; r < before.region_count; ++r) {
    if (before.regions[r].kind != mt::region_kind::entry) continue;
    int const entry = mt::find_entry(after, before.names[before.regions[r].label]);
    REQUIRE(entry >= 0);
    for (unsigned seed = 1; seed <= 4; ++seed) {
      mt::interpreter old_one(before, b), new_one(after, b);
      mt::blocks old_variables, new_variables;
      for (unsigned step = 0; step < 2; ++step) {
        mt::settings const s{{{"rate", 0.25}}, seed, step};
        auto const inputs = random_inputs(before, r, b, 10 * seed + step);
        check_same(old_one.run(r, inputs, old_variables, s), new_one.run(entry, inputs, new_variables, s));
      }
      check_same(old_variables, new_variables);
    }
  }
}

}  // namespace meshtensor_test

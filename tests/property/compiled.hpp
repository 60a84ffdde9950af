// A program lowered by the compiler and again at start-up: one graph, one plan, and the same bits when they run.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "meshtensor/device/reference.hpp"
#include "meshtensor/graph/print.hpp"
#include "meshtensor/run/session.hpp"
#include "support/programs.hpp"

namespace compiled {

namespace mt = meshtensor;
using programs::batch, programs::model;

inline constexpr struct ax_axis : mt::axis<"ax", 2> {
} ax;
inline constexpr struct by_axis : mt::axis<"by", 2> {
} by;
struct mesh : mt::mesh<ax, by> {};

struct data_parallel : mt::layout<mt::shard<batch, ax>> {};
struct spread : mt::layout<mt::shard<batch, by, ax>, mt::in<"optimizer", mt::shard<model, ax>>> {};
struct both : mt::layout<mt::shard<batch, ax>, mt::shard<model, by>> {};

inline bool same(mt::plan const& a, mt::plan const& b) {
  auto const equal = [](auto const& x, auto const& y) { return std::memcmp(&x, &y, sizeof(x)) == 0; };
  return equal(a.steps, b.steps) && equal(a.root, b.root) && equal(a.where, b.where) && equal(a.offset, b.offset) &&
         equal(a.numbers.extent, b.numbers.extent) && equal(a.numbers.axis, b.numbers.axis) &&
         a.arena_bytes == b.arena_bytes && a.variable_bytes == b.variable_bytes && a.input_bytes == b.input_bytes &&
         a.fullest == b.fullest;
}

/// All outputs of two steps, bit for bit.
inline std::vector<double> run(mt::module const& m, mt::plan const& p, int entry) {
  auto const job = mt::processors::in_lockstep();
  mt::store values(job, 3);
  mt::session<mt::reference_device> s(values, m, p, mesh::shape, entry);
  std::vector<double> all;
  for (int i = 0; i < m.node_count; ++i) {
    mt::node const& n = m.nodes[i];
    if (n.kind != mt::primitive::input) continue;
    mt::block b(m.result_value(n).type, m.result_value(n).dims, p.numbers);
    for (std::int64_t k = 0; k < b.size(); ++k) b.set(k, static_cast<double>(k * 37 % 11) / 4 - 1);
    s.feed(m.names[n.attribute[0]].text(), b.data());
  }
  for (int t = 0; t < 2; ++t) {
    s.step();
    for (int i = 0; i < m.node_count; ++i) {
      if (m.nodes[i].kind != mt::primitive::output) continue;
      mt::block const b = s.whole(m.names[m.nodes[i].attribute[0]].text());
      for (std::int64_t k = 0; k < b.size(); ++k) all.push_back(b.number_at(k));
    }
  }
  return all;
}

template <class Entry, class Layout>
void check_twin() {
  using stages = mt::lowered<Entry, Entry, mesh, Layout>;
  static_assert(stages::bound.ok());
  constexpr int entry = mt::find_entry(stages::graph, mt::entry_name<Entry>());
  auto const twin = mt::lower(stages::traced, mt::entry_name<Entry>(), mesh::shape, Layout::rules, {});
  CHECK(mt::text_of(stages::graph) == mt::text_of(twin->graph));
  CHECK(same(stages::planned, twin->planned));
  auto const got = run(stages::graph, stages::planned, entry), wanted = run(twin->graph, twin->planned, twin->entry);
  REQUIRE(got.size() == wanted.size());
  CHECK(!got.empty());
  CHECK(std::memcmp(got.data(), wanted.data(), got.size() * sizeof(double)) == 0);
}

template <class Program>
struct in_f32 : mt::precision<Program, mt::f32> {};

/// A program under three layouts.
template <class Program>
void check(char const* what) {
  INFO(std::string(what));
  check_twin<in_f32<Program>, data_parallel>();
  check_twin<in_f32<Program>, spread>();
  check_twin<in_f32<Program>, both>();
}

}  // namespace compiled

// SPDX-License-Identifier: Apache-2.0
// Compares a program lowered by the compiler with the same lowered at start-up: graph, plan, and the bits of a run.
#pragma once

#include "property/outcome.hpp"
#include "property/sample.hpp"
#include "support/programs.hpp"

namespace compiled {

namespace mt = meshtensor;
using programs::batch, programs::model;

inline constexpr struct ax_axis : mt::axis<"ax", 2> {} ax;
inline constexpr struct by_axis : mt::axis<"by", 2> {} by;
struct mesh : mt::mesh<ax, by> {};

struct data_parallel : mt::layout<mt::shard<batch, ax>> {};
struct spread : mt::layout<mt::shard<batch, by, ax>, mt::in<"optimizer", mt::shard<model, ax>>> {};
struct both : mt::layout<mt::shard<batch, ax>, mt::shard<model, by>> {};

inline int twins = 0;  // programs compared

/// Whether every module on the way is right, by the pass that made it.
template <class Stages>
constexpr bool verified = []<int... Row>(std::integer_sequence<int, Row...>) {
  return (mt::verify(Stages::template after<Row>()).empty() && ...);
}(std::make_integer_sequence<int, mt::pass_count>{});

template <class Entry, class Layout>
void check_twin() {
  using stages = mt::lowered<Entry, Entry, mesh, Layout>;
  static_assert(stages::bound.ok());
  if constexpr (std::is_same_v<Layout, both>) static_assert(verified<stages>);
  constexpr int entry = mt::find_entry(stages::graph, mt::entry_name<Entry>());
  property::check_twin(stages::traced, mt::entry_name<Entry>(), mesh::shape, Layout::rules, stages::graph,
                       stages::planned, entry);
  ++twins;
}

template <class Program>
struct in_f32 : mt::precision<Program, mt::f32> {};

/// Compares a program under three layouts.
template <class Program>
void check(char const* what) {
  INFO(std::string(what));
  check_twin<in_f32<Program>, data_parallel>();
  check_twin<in_f32<Program>, spread>();
  check_twin<in_f32<Program>, both>();
}

}  // namespace compiled

// SPDX-License-Identifier: Apache-2.0
// A program lowered for a mesh, its plan, and steps run by the plan that must give what the interpreter gives, which
// gives every value memory of its own.
#pragma once

#include "meshtensor/device/reference.hpp"
#include "meshtensor/pass/lower.hpp"
#include "meshtensor/run/session.hpp"
#include "support/compare.hpp"
#include "unit/pass/results.hpp"

namespace meshtensor_test {

template <class Program>
struct planned {
  std::unique_ptr<mt::lowering> low;
  mt::mesh_shape mesh{};
  mt::plan const& plan() const { return low->planned; }

  explicit planned(mt::layout_rules const& rules = {}, std::int64_t processors = 0)
      : planned(rules, [&] {
          mt::mesh_shape line{};
          if (processors != 0) line.add("ax", processors);
          return line;
        }()) {}
  planned(mt::layout_rules const& rules, mt::mesh_shape const& on)
      : low(mt::lower(traced<Program>, mt::entry_name<Program>(), on, rules, {})), mesh(on) {}

  /// Values that are made in a slice of a stacked result.
  int stack_slices() const {
    int n = 0;
    for (int v = 0; v < low->graph.value_count; ++v)
      n += plan().where[v] == mt::place::stack_slice && plan().root[v] == v;
    return n;
  }
  /// Carries whose next value is made in their memory.
  int kept_in_place() const {
    int n = 0;
    mt::module const& m = low->graph;
    for (int i = 0; i < m.node_count; ++i) {
      if (m.nodes[i].kind != mt::primitive::repeat) continue;
      mt::region const& body = m.regions[m.region_of(m.nodes[i], 0)];
      for (int k = 0; k < mt::loop::of(m.nodes[i]).carries; ++k)
        n += plan().root[m.link(body.results, k)] == plan().root[m.link(body.arguments, k)];
    }
    return n;
  }
  /// Three steps, of the plan and of the interpreter, whenever collectives do their work.
  void check_steps() {
    for (mt::collective_timing const timing : mt::collective_timings) check_steps(mt::job::in_lockstep(timing));
  }
  [[gnu::noinline]] void check_steps(mt::job const& job) {  // a test case has many, and one stack
    mt::module const& whole = traced<Program>;
    auto const simple = made([&] { return mt::simplify(mt::differentiate(mt::widen(whole))); });
    auto const b = mt::bind(*simple, mt::mesh_shape{});
    int const entry = mt::find_entry(*simple, mt::entry_name<Program>());
    mt::store values(job, 7);
    mt::session<mt::reference_device> run(values, low->graph, plan(), mesh, low->entry);
    mt::interpreter oracle(*simple, b);
    mt::blocks variables;
    for (unsigned step = 0; step < 3; ++step) {
      auto const inputs = random_inputs(*simple, entry, b, step);
      for (auto const& [label, x] : inputs) run.feed(label, x.data());
      run.step();
      for (auto const& [label, x] : oracle.run(entry, inputs, variables, mt::settings{{}, 7, step}))
        for (std::size_t k = 0; k < run.held().size(); ++k) {
          CAPTURE(label);
          CHECK(difference(run.local(label, k), x, 1e-5) == "");
        }
    }
  }
};

}  // namespace meshtensor_test

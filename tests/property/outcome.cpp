// SPDX-License-Identifier: Apache-2.0
// Compiled once for all property tests: passes and the reference device are most of what each would compile.
#include "property/outcome.hpp"

namespace property {

outcome run_with(mt::job const& job, mt::module const& graph, mt::plan const& plan, int entry,
                 mt::mesh_shape const& mesh, mt::blocks const& inputs, std::vector<std::string> const& outputs,
                 int steps) {
  return run_on<mt::reference_device>(job, graph, plan, entry, mesh, inputs, outputs, steps);
}

namespace {

/// Legal layouts of a program on a mesh: data parallel, then two that are drawn, with lists of axes and scopes.
std::vector<mt::layout_rules> three_layouts(subject const& s, mt::mesh_shape const& mesh, rng c) {
  std::vector<mt::layout_rules> all;
  auto const dims = dims_in_use(s.graph()), scopes = scopes_of(s.graph());
  auto const legal = [&](mt::layout_rules const& rules) {
    auto const m = mt::on_heap([&] { return mt::partition(s.graph(), mesh, rules); });
    return m->report.empty() && mt::on_heap([&] { return mt::bind(*m, mesh); })->ok();
  };
  mt::layout_rules rules{};
  mt::layout_rule batch{};
  batch.dim = mt::name("batch");
  for (int a = 0; a < mesh.count; ++a) batch.axes[batch.count++] = mesh.axes[a].label;
  rules.add(batch);
  while (all.size() < 3) {
    if (legal(rules)) all.push_back(rules);
    rules = meshtensor_test::drawn_layout(dims, all.size() == 1 ? std::vector<mt::name>{} : scopes, mesh, c);
  }
  return all;
}

}  // namespace

std::vector<std::string> outputs_of(mt::module const& traced) {
  std::vector<std::string> all;
  for (int i = 0; i < traced.node_count; ++i)
    if (traced.nodes[i].kind == mt::primitive::output) all.push_back(traced.names[traced.nodes[i].attribute[0]].text());
  return all;
}
mt::blocks inputs_of(mt::module const& traced, mt::name const& entry) {
  subject s(traced, entry, {});
  s.fill(fill_kind::reals, rng{11}, -1.5, 1.5, 11);
  return s.inputs;
}

void each_of_three(listed const& program, mt::mesh_shape const& mesh, on_lowering const& f) {
  auto const traced = program.trace();
  mt::blocks const inputs = inputs_of(*traced, program.entry);
  auto const outputs = outputs_of(*traced);
  for (auto const& rules : three_layouts(subject(*traced, program.entry, {}), mesh, rng{3})) {
    auto const low = mt::lower(*traced, program.entry, mesh, rules, {});
    INFO(std::string(program.label) << " on " << meshtensor_test::text_of(mesh) << ": "
                                    << meshtensor_test::text_of(rules));
    f(*low, inputs, outputs);
  }
}

namespace {

bool same(mt::plan const& a, mt::plan const& b) {
  auto const equal = [](auto const& x, auto const& y) { return std::memcmp(&x, &y, sizeof(x)) == 0; };
  return equal(a.steps, b.steps) && equal(a.root, b.root) && equal(a.where, b.where) && equal(a.offset, b.offset) &&
         equal(a.numbers.extent, b.numbers.extent) && equal(a.numbers.axis, b.numbers.axis) &&
         a.arena_bytes == b.arena_bytes && a.variable_bytes == b.variable_bytes && a.input_bytes == b.input_bytes &&
         a.fullest == b.fullest;
}

}  // namespace

void check_twin(mt::module const& traced, mt::name const& entry, mt::mesh_shape const& mesh,
                mt::layout_rules const& rules, mt::module const& graph, mt::plan const& plan, int entry_place) {
  auto const twin = mt::lower(traced, entry, mesh, rules, {});
  CHECK(mt::text_of(graph) == mt::text_of(twin->graph));
  CHECK(same(plan, twin->planned));
  auto const inputs = inputs_of(traced, entry);
  auto const outputs = outputs_of(traced);
  auto const got = run_with(mt::job::in_lockstep(), graph, plan, entry_place, mesh, inputs, outputs, 2);
  CHECK(!got.empty());
  for (mt::collective_timing const timing : mt::collective_timings)
    CHECK(got == run_with(mt::job::in_lockstep(timing), *twin, mesh, inputs, outputs, 2));
}

}  // namespace property

// A program run by a job, whatever its transport: every bit that each processor ends up with.
#pragma once

#include <cstddef>

#include "property/program.hpp"

namespace property {

/// By step, name and rank: what the processor holds of an output or variable.
using outcome = std::map<std::string, std::vector<std::byte>>;

inline outcome run_with(mt::processors const& job, mt::lowering const& low, mt::mesh_shape const& mesh,
                        mt::blocks const& inputs, std::vector<std::string> const& outputs, int steps) {
  mt::store values(job, 5);
  mt::session<mt::reference_device> run(values, low.graph, low.planned, mesh, low.entry);
  for (auto const& [label, b] : inputs) run.feed(label, b.data());
  outcome all;
  auto const keep = [&](std::string const& label, int step, int rank, void const* data, std::int64_t bytes) {
    auto const* first = static_cast<std::byte const*>(data);
    all[std::to_string(step) + " " + label + " " + std::to_string(rank)].assign(first, first + bytes);
  };
  for (int t = 0; t < steps; ++t) {
    run.step();
    for (std::size_t k = 0; k < run.held().size(); ++k) {
      int const rank = run.held()[k].rank();
      for (auto const& label : outputs) {
        mt::view const v = run.local(label, k);
        keep(label, t, rank, v.data, v.bytes());
      }
      for (auto& [path, s] : values.values()) keep(path, t, rank, s.block_of(k), s.windows[k].bytes());
    }
  }
  return all;
}

/// Legal layouts of a program on a mesh: data parallel, then two that are drawn, with lists of axes and scopes.
inline std::vector<mt::layout_rules> three_layouts(subject const& s, mt::mesh_shape const& mesh, chance c) {
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

/// Calls f(what, lowering, inputs, outputs) for a program under three layouts of a mesh.
template <class Program, class F>
void each_of_three(char const* what, mt::mesh_shape const& mesh, F f) {
  auto const traced = mt::on_heap([] { return mt::trace<mt::precision<Program, mt::f32>>(); });
  mt::name const entry = mt::entry_name<Program>();
  subject s(*traced, entry, {});
  s.fill(sort::reals, chance{11}, -1.5, 1.5, 11);
  std::vector<std::string> outputs;
  for (int i = 0; i < traced->node_count; ++i)
    if (traced->nodes[i].kind == mt::primitive::output)
      outputs.push_back(traced->names[traced->nodes[i].attribute[0]].text());
  for (auto const& rules : three_layouts(s, mesh, chance{3})) {
    auto const low = mt::lower(*traced, entry, mesh, rules, {});
    INFO(std::string(what) << " on " << meshtensor_test::text_of(mesh) << ": " << meshtensor_test::text_of(rules));
    f(*low, s.inputs, outputs);
  }
}

/// Calls f.operator()<Program>(name) for every program.
template <class F>
void each_program(F f) {
  f.template operator()<programs::functions>("functions");
  f.template operator()<programs::discrete>("discrete");
  f.template operator()<programs::contractions>("contractions");
  f.template operator()<programs::reductions>("reductions");
  f.template operator()<programs::softmaxes>("softmaxes");
  f.template operator()<programs::movements>("movements");
  f.template operator()<programs::lookups>("lookups");
  f.template operator()<programs::noise>("noise");
  f.template operator()<programs::asked>("asked");
  f.template operator()<programs::mlp>("mlp");
  f.template operator()<programs::recurrent>("recurrent");
  f.template operator()<programs::trading>("trading");
  f.template operator()<programs::nested>("nested");
  f.template operator()<programs::composites>("composites");
  f.template operator()<programs::classifier>("classifier");
  f.template operator()<programs::attending>("attending");
  f.template operator()<programs::language_model>("language_model");
  f.template operator()<programs::translator>("translator");
  f.template operator()<programs::adversaries>("adversaries");
  f.template operator()<programs::memories>("memories");
}

}  // namespace property

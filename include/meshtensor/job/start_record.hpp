// SPDX-License-Identifier: Apache-2.0
// Facts about a start, such as the build, the program, the layout and the sizes. They must be the same on all ranks
// before the first step.
#pragma once

#include <cstdint>
#include <string>

#include "meshtensor/array/interpret.hpp"
#include "meshtensor/emit/print.hpp"
#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/pass/fingerprint.hpp"
#include "meshtensor/pass/plan_memory.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// The program that a rank is about to run, and how it was compiled, as facts. Each fact is a list of lines with a
/// fingerprint.
struct start_record {
  meshtensor::module const& graph;
  plan const& planned;
  mesh_shape const& mesh;
  layout_rules const& layout;
  name program, device;
  std::uint64_t seed, step;
  std::string counts;  // of steps and of updates, one a line
  char const* built;   // MESHTENSOR_BUILD

  /// The facts in the order in which a difference is reported, so that causes come before their consequences.
  enum fact {
    library,
    build,
    entry,
    on_device,
    on_mesh,
    rules,
    extents,
    dtypes,
    operations,
    memory,
    of_seed,
    of_step,
    of_counts
  };
  static constexpr int count = of_counts + 1;
  [[gnu::cold]] static char const* name_of(int f) {
    constexpr char const* names[] = {"the version of meshtensor",
                                     "the build",
                                     "the program",
                                     "the device",
                                     "the mesh",
                                     "the layout",
                                     "the extents",
                                     "the dtypes",
                                     "the operations",
                                     "the plan",
                                     "the store's seed",
                                     "the store's step",
                                     "the counts of the store"};
    return names[f];
  }

  /// The hash of a fact. Different facts have different hashes, except with negligible probability.
  [[gnu::cold]] std::uint64_t fingerprint_of(int f) const {
    hash_combine mix;
    if (f == operations) mix(fingerprint(graph));
    else if (f == memory) return fingerprint_of_plan();
    else
      for (char const c : lines_of(f)) mix(c);
    return mix.hash;
  }
  [[gnu::cold]] std::string lines_of(int f) const {
    switch (f) {
      case library:
        return std::to_string(MESHTENSOR_VERSION_MAJOR) + "." + std::to_string(MESHTENSOR_VERSION_MINOR) + "." +
               std::to_string(MESHTENSOR_VERSION_PATCH);
      case build: return built;
      case entry: return program.text();
      case on_device: return device.text();
      case on_mesh: return lines_of_mesh();
      case rules: return lines_of_layout();
      case extents: return lines_of_extents();
      case dtypes: return lines_of_dtypes();
      case operations: return text_of(graph);
      case memory:
        return std::to_string(planned.arena_bytes) + " bytes for a step\n" + std::to_string(planned.variable_bytes) +
               " bytes of parameters and state\n" + std::to_string(planned.input_bytes) + " bytes of inputs\n";
      case of_seed: return std::to_string(seed);
      case of_step: return std::to_string(step);
      default: return counts;
    }
  }

 private:
  [[gnu::cold]] std::uint64_t fingerprint_of_plan() const {
    hash_combine mix;
    for (int v = 0; v < graph.value_count; ++v) mix(graph.values[v].layout.bits);
    mix(planned.arena_bytes, planned.variable_bytes, planned.input_bytes);
    return mix.hash;
  }
  [[gnu::cold]] std::string lines_of_mesh() const {
    std::string lines;
    for (int a = 0; a < mesh.count; ++a)
      lines += mesh.axes[a].label.text() + " = " + std::to_string(mesh.axes[a].extent) + "\n";
    return lines;
  }
  /// The rules of the layout, for example `heads over model`, `d_model over data in optimizer`, `length whole in
  /// attention`.
  [[gnu::cold]] std::string lines_of_layout() const {
    std::string lines;
    for (int r = 0; r < layout.count; ++r) {
      layout_rule const& rule = layout.rules[r];
      lines += rule.dim.text() + (rule.count == 0 ? " whole" : " over ");
      for (int a = 0; a < rule.count; ++a) lines += (a == 0 ? "" : ", ") + rule.axes[a].text();
      lines += (rule.scope.empty() ? "" : " in " + rule.scope.text()) + "\n";
    }
    return lines;
  }
  [[gnu::cold]] std::string lines_of_extents() const {
    std::string lines;
    for (int d = 0; d < graph.dim_count; ++d)
      lines += graph.dim_name(d).text() + " = " + std::to_string(planned.numbers.extent[d]) + "\n";
    return lines;
  }
  /// The dtypes of inputs, parameters and state.
  [[gnu::cold]] std::string lines_of_dtypes() const {
    std::string lines;
    for (int i = 0; i < graph.node_count; ++i)
      if (node const& n = graph.nodes[i]; n.kind == primitive::input)
        lines += graph.names[meshtensor::name_of(n)].text() + " " + text_of(graph.values[graph.result(n)].type) + "\n";
    for (int i = 0; i < graph.variable_count; ++i)
      lines += path_text(graph, graph.variables[i].path) + " " + text_of(graph.variables[i].type) + "\n";
    return lines;
  }
};

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

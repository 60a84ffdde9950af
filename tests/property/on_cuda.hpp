// SPDX-License-Identifier: Apache-2.0
// Runs one program on mt::cuda_device, with kernels that the host's compiler makes of the text for a GPU.
#pragma once

#include "meshtensor/device/cuda/device.hpp"
#include "property/subject.hpp"
#include "support/host_gpu.hpp"

namespace property {

/// The GPU of a test.
struct stand_in {
  meshtensor_test::host_gpu gpu;
  stand_in() { mt::cuda::given_gpu() = &gpu; }
  ~stand_in() { mt::cuda::given_gpu() = nullptr; }
};

struct outcome_on_cuda {
  bool is_legal = false, runs = false;
  std::string fault;
};

/// Runs a program under a layout, and compares every part of outputs and variables with what the interpreter gave.
inline outcome_on_cuda on_cuda(subject const& s, mt::module const& traced, mt::name const& entry,
                               std::vector<mt::dim_extent> const& extents, mt::mesh_shape const& mesh,
                               mt::layout_rules const& rules) {
  outcome_on_cuda o;
  std::unique_ptr<mt::lowering> low;
  try {
    low = mt::lower(traced, entry, mesh, rules, extents, mt::capabilities_of<mt::cuda_device>);
  } catch (mt::error const&) { return o; }
  o.is_legal = true;
  mt::job const job = mt::job::in_lockstep();
  mt::store values(job);
  std::unique_ptr<mt::session<mt::cuda_device>> run;
  try {
    run = std::make_unique<mt::session<mt::cuda_device>>(values, low->graph, low->planned, mesh, low->entry);
  } catch (mt::error const& e) {
    if (e.code() != "R84") o.fault = e.what();
    return o;
  }
  o.runs = true;
  for (auto const& [label, b] : s.inputs) run->feed(label, b.data());
  for (int t = 0; t < s.steps; ++t) {
    run->step();
    for (auto const& [label, whole] : s.expected_outputs(t))
      for (std::size_t k = 0; k < run->held().size(); ++k)
        if (auto const d = meshtensor_test::difference(run->local(label, k), whole, s.tolerance);
            !d.empty() && o.fault.empty())
          o.fault = "step " + std::to_string(t) + ", output " + label + ": " + d;
    for (auto const& [path, whole] : s.expected_variables(t)) {
      auto const found = values.values().find(path);
      if (found == values.values().end()) continue;
      for (std::size_t k = 0; k < run->held().size(); ++k) {
        mt::view part = found->second.windows[k];
        part.data = found->second.read_block(k);
        if (auto const d = meshtensor_test::difference(part, whole, s.tolerance); !d.empty() && o.fault.empty())
          o.fault = "step " + std::to_string(t) + ", variable " + path + ": " + d;
      }
    }
  }
  return o;
}

}  // namespace property

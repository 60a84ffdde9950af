// SPDX-License-Identifier: Apache-2.0
// Runs a program under one layout on a device that records its steps, and compares what it gives with the interpreter.
#pragma once

#include "meshtensor/device/device.hpp"
#include "meshtensor/pass/lower.hpp"
#include "meshtensor/run/session.hpp"
#include "property/subject.hpp"

namespace property {

struct outcome_of_layout {
  bool is_legal = false;
  std::string refusal;  // what the device does not run
  std::string fault;
  bool runs() const { return is_legal && refusal.empty(); }
};

/// Compares every part of outputs and variables, after each step.
template <class Device>
outcome_of_layout under(subject const& s, mt::module const& traced, mt::name const& entry,
                        std::vector<mt::dim_extent> const& extents, mt::mesh_shape const& mesh,
                        mt::layout_rules const& rules) {
  outcome_of_layout o;
  std::unique_ptr<mt::lowering> low;
  try {
    low = mt::lower(traced, entry, mesh, rules, extents, mt::capabilities_of<Device>);
  } catch (mt::error const&) { return o; }
  o.is_legal = true;
  mt::job const job = mt::job::in_lockstep();
  mt::store values(job);
  std::unique_ptr<mt::session<Device>> run;
  try {
    run = std::make_unique<mt::session<Device>>(values, low->graph, low->planned, mesh, low->entry);
  } catch (mt::error const& e) {
    (e.code() == "R84" ? o.refusal : o.fault) = e.what();
    return o;
  }
  auto const compare = [&](int t, std::string const& what, mt::view const& got, mt::block const& whole) {
    if (auto const d = meshtensor_test::difference(got, whole, s.tolerance); !d.empty() && o.fault.empty())
      o.fault = "step " + std::to_string(t) + ", " + what + ": " + d;
  };
  for (auto const& [label, b] : s.inputs) run->feed(label, b.data());
  for (int t = 0; t < s.steps; ++t) {
    run->step();
    for (auto const& [label, whole] : s.expected_outputs(t))
      for (std::size_t k = 0; k < run->held().size(); ++k) compare(t, "output " + label, run->local(label, k), whole);
    for (auto const& [path, whole] : s.expected_variables(t)) {
      auto const found = values.values().find(path);
      if (found == values.values().end()) continue;
      for (std::size_t k = 0; k < run->held().size(); ++k) {
        mt::view part = found->second.windows[k];
        part.data = found->second.read_block(k);
        compare(t, "variable " + path, part, whole);
      }
    }
  }
  return o;
}

}  // namespace property

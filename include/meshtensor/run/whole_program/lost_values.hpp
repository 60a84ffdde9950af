// SPDX-License-Identifier: Apache-2.0
// Reports that a failed step of a whole program has taken the only copy of a value, with the line that updates it.
#pragma once

#include <string>

#include "meshtensor/array/interpret.hpp"
#include "meshtensor/graph/locate.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// The node of an entry that writes a variable. It is null if there is none, and then no result takes the variable's
/// memory.
inline node const* update_of(module const& m, int entry, id variable) {
  for (int i = 0; i < m.node_count; ++i)
    if (node const& n = m.nodes[i]; n.kind == primitive::write && n.region == entry && variable_of(n) == variable)
      return &n;
  return nullptr;
}

/// The sentence of R85.
inline std::string loss_of(module const& m, id variable, node const* update) {
  diagnostic line{};
  if (update != nullptr) add_line(line, m, update->site);
  return "'" + path_text(m, m.variables[variable].path) +
         "' is lost: its only copy was on the devices, and a step that failed there had begun to update it" +
         std::string(line.view()) + ": load a checkpoint, or set it, to go on";
}

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"

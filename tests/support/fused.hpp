// SPDX-License-Identifier: Apache-2.0
// Fuses a module for a device, as lowering does, without the other passes.
#pragma once

#include <string_view>

#include "meshtensor/pass/passes.hpp"

namespace meshtensor_test {

/// Runs the rows of the table behind those that depend on layouts, up to `fuse`.
constexpr meshtensor::module fused(meshtensor::module const& m, meshtensor::device_capabilities const& capabilities) {
  namespace mt = meshtensor;
  mt::mesh_shape const mesh{};
  mt::layout_rules const rules{};
  mt::lowering_request const request{mt::name(), mesh, rules, capabilities};
  meshtensor::module all = m;
  for (int row = mt::passes_of(mt::pass_input::layout); row < mt::pass_count; ++row) {
    if (std::string_view(mt::passes<>[row].name) == "overlap_collectives") break;
    all = mt::passes<>[row].run(all, request);
  }
  return all;
}

}  // namespace meshtensor_test

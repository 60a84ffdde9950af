// SPDX-License-Identifier: Apache-2.0
// The reference device runs every node by the plain loops of its rule. Other devices are tested against it.
#pragma once

#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/plan_memory.hpp"

namespace meshtensor {

/// Runs the kernels of one rank over an arena in host memory.
struct reference_device {
  struct kernel {};  // nodes need no preparation
  node_loops loops;

  /// Makes a device with loops for all primitives. It is a template, so that programs that have loops of their own do
  /// not compile these.
  template <class = lazy>
  constexpr reference_device() : loops(&evaluate<>) {}
  constexpr reference_device(node_loops l) : loops(l) {}  // NOLINT: loops are a device

  /// Makes a device that runs only this module. It has loops for the module's nodes alone, unless loops for all
  /// primitives are linked.
  template <module const& Graph>
  static constexpr reference_device compiled_for() {
    if constexpr (links_passes) return {};
    else return {&evaluate<computed_in(Graph)>};
  }
  kernel prepare(module const&, node const&, view const*, view const*) const { return {}; }
  void launch(kernel&, evaluation const& e) const { loops(e); }
};

}  // namespace meshtensor

// SPDX-License-Identifier: Apache-2.0
// The reference device: every node by its rule's own plain loops. The oracle of the other devices.
#pragma once

#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/plan_memory.hpp"

namespace meshtensor {

/// A device runs the kernels of one processor over an arena in host memory.
struct reference_device {
  struct kernel {};  // what a node needs beside its views
  node_loops loops = &evaluate<>;

  /// A device that runs this module alone, with loops for no other nodes.
  template <module const& Graph>
  static constexpr reference_device compiled_for() {
    return {&evaluate<computed_in(Graph)>};
  }
  kernel prepare(module const&, node const&, view const*, view const*) const { return {}; }
  void launch(kernel&, evaluation const& e) const { loops(e); }
};

}  // namespace meshtensor

// SPDX-License-Identifier: Apache-2.0
// Turns watched tensors into outputs of the entry. If a tensor is watched inside a loop, the loop gets one more stacked
// result.
//
// `differentiate` collects the watched tensors, because only this pass sees their gradients. Afterwards they are
// ordinary outputs, so every later pass, device and mesh treats them like the program's own outputs.
#pragma once

#include "meshtensor/graph/builder.hpp"
#include "meshtensor/graph/owner.hpp"

namespace meshtensor::detail {

/// A watched value outside of all loops: what each of their iterations computes, stacked. The loops must be complete.
constexpr value_id stacked_outside(builder& b, name_id label, value_id v) {
  while (b.m.regions[b.m.values[v].region].parent != no_id) {
    node_id const loop_node = node_owning(b.m, b.m.values[v].region);
    if (dim_id const dim = loop::of(b.m.nodes[loop_node]).dim; b.m.values[v].dims.has(dim)) {
      diagnostic d{};
      b.note(d << "G33 '" << b.m.names[label] << "' is watched in a loop over '" << b.m.dim_name(dim)
               << "' and has that dim itself: rename it first");
      return v;
    }
    v = b.add_stacked_output(loop_node, v);
  }
  return v;
}

/// Watched values of a module under construction, with their output names.
class watched_values {
 public:
  /// Adds a watched value. `n` is the node that watches, and `v` is the tensor, or its cotangent with respect to
  /// `loss`.
  constexpr void add(builder& b, node const& n, value_id v, value_id loss = no_id) {
    if (!b.expect(count_ < max_watched, "G33 a program watches at most 64 tensors")) return;
    for (int i = 0; i < count_; ++i) {
      if (all_[i].label != name_of(n) || all_[i].path != n.path) continue;
      if (all_[i].loss == loss) return;  // the same loss by other parameters: the cotangent is the same
      diagnostic d{};
      b.site = n.site;
      return b.note(d << "G03 the gradients of two losses by '" << b.m.names[name_of(n)]
                      << "' are watched under one name: watch what gradient gives instead");
    }
    all_[count_++] = {name_of(n), n.path, n.site, v, loss};
  }

  /// Adds the outputs. Call it when all loops are complete.
  constexpr void surface(builder& b) const {
    for (int i = 0; i < count_; ++i) {
      b.path = all_[i].path, b.site = all_[i].site, b.copy = 0;
      value_id const v = stacked_outside(b, all_[i].label, all_[i].value);
      if (!b.m.report.empty()) return;
      b.region = b.m.values[v].region;
      b.m.nodes[b.add_node(primitive::output, 0, ids(&v, 1), output_attributes{all_[i].label, true}.packed())].effect =
          true;
    }
  }

 private:
  struct watched_value {
    name_id label;
    path_id path;
    site_id site;
    value_id value, loss;
  };
  int count_ = 0;
  watched_value all_[max_watched] = {};
};

}  // namespace meshtensor::detail

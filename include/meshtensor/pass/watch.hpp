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
      value_id v = all_[i].value;
      for (region_id around = parent_of(b.m, v); around != no_id; around = parent_of(b.m, v)) {
        node_id const loop_node = node_owning(b.m, b.m.values[v].region);
        if (dim_id const dim = loop::of(b.m.nodes[loop_node]).dim; b.m.values[v].dims.has(dim)) {
          diagnostic d{};
          return b.note(d << "G33 '" << b.m.names[all_[i].label] << "' is watched in a loop over '" << b.m.dim_name(dim)
                          << "' and has that dim itself: rename it first");
        }
        v = b.add_stacked_output(loop_node, v);
      }
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
  static constexpr region_id parent_of(module const& m, value_id v) { return m.regions[m.values[v].region].parent; }

  int count_ = 0;
  watched_value all_[max_watched] = {};
};

}  // namespace meshtensor::detail

// SPDX-License-Identifier: Apache-2.0
// Differentiates the module that an eager scope records, up to a node that takes a gradient.
#pragma once

#include <memory>
#include <string>

#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/differentiate.hpp"
#include "meshtensor/pass/lower.hpp"
#include "meshtensor/pass/widen.hpp"

namespace meshtensor::detail {

/// Whether a node is a gradient, or a loop whose body takes one. The first `done` nodes stand before it.
inline bool takes_gradient(builder const& b, node const& n, int done) {
  if (n.kind != primitive::repeat) return n.kind == primitive::gradient;
  for (int i = 0; i < done; ++i)
    if (b.m.nodes[i].kind == primitive::gradient && b.m.nodes[i].region == b.m.region_of(n, 0)) return true;
  return false;
}

/// Differentiates a copy of the module up to such a node. Its gradients become the outputs `gradient 0` and so on.
inline std::unique_ptr<module> differentiated_at(builder const& b, node const& n, int done, region_id entry) {
  auto const upto = std::make_unique<module>(b.m);
  upto->node_count = done + 1;
  builder more(*upto);
  more.region = entry;
  for (int i = 0; i < n.results.count; ++i) {
    value_id const out[] = {b.m.result(n, i)};
    name_id const label = more.intern(name::of("gradient " + std::to_string(i)));
    upto->nodes[more.add_node(primitive::output, 0, out, output_attributes{label, false}.packed())].effect = true;
  }
  auto made = on_heap([&] { return differentiate(widen(*upto)); });
  raise(made->report);
  return made;
}

}  // namespace meshtensor::detail

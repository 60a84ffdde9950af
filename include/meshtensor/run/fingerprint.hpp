// One number for what a rank is going to run, so that ranks can tell before the first step whether they agree.
#pragma once

#include "meshtensor/pass/plan_memory.hpp"

namespace meshtensor {

/// Differs, all but surely, where the graphs or the numbers of two plans do: other programs, layouts, meshes, extents
/// or builds. Below 2^52, so that a double holds it.
inline std::uint64_t fingerprint(module const& m, plan const& p) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  auto const mix = [&](auto... words) {
    ((hash = (hash ^ static_cast<std::uint64_t>(words)) * 0x100000001b3ull, hash ^= hash >> 29), ...);
  };
  for (int i = 0; i < m.name_count; ++i) mix(m.names[i].w0, m.names[i].w1, m.names[i].w2, m.names[i].w3);
  for (int d = 0; d < m.dim_count; ++d) mix(m.dims[d].label, p.numbers.extent[d]);
  for (int a = 0; a < m.axis_count; ++a) mix(m.axes[a].label, p.numbers.axis[a]);
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    mix(n.kind, n.function, n.region, n.attribute[0], n.attribute[1], n.attribute[2], n.attribute[3]);
    mix(n.operands.first, n.operands.count, n.results.first, n.results.count);
  }
  for (int i = 0; i < m.link_count; ++i) mix(m.links[i]);
  for (int v = 0; v < m.value_count; ++v) {
    value const& x = m.values[v];
    mix(x.type, x.dims.count);
    for (int i = 0; i < x.dims.count; ++i) mix(x.dims.at[i]);
    for (int a = 0; a < m.axis_count; ++a) mix(x.layout.dim[a], x.layout.order[a], x.layout.part[a]);
  }
  mix(p.arena_bytes, p.variable_bytes, p.input_bytes);
  return hash >> 12;
}

}  // namespace meshtensor

// One number for what a rank is going to run, so that ranks can tell before the first step whether they agree.
#pragma once

#include "meshtensor/pass/mark.hpp"
#include "meshtensor/pass/plan_memory.hpp"

namespace meshtensor {

/// Differs, all but surely, where the graphs or the numbers of two plans do: other programs, layouts, meshes, extents
/// or builds. Below 2^52, so that a double holds it.
inline std::uint64_t fingerprint(module const& m, plan const& p) {
  mixed_words mix;
  mix(mark(m));
  for (int d = 0; d < m.dim_count; ++d) mix(p.numbers.extent[d]);
  for (int a = 0; a < m.axis_count; ++a) mix(m.axes[a].label, p.numbers.axis[a]);
  for (int v = 0; v < m.value_count; ++v) {
    placement const& lies = m.values[v].layout;
    for (int a = 0; a < m.axis_count; ++a) mix(lies.dim[a], lies.order[a], lies.part[a]);
  }
  mix(p.arena_bytes, p.variable_bytes, p.input_bytes);
  return mix.hash >> 12;
}

}  // namespace meshtensor

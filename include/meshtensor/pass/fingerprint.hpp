// SPDX-License-Identifier: Apache-2.0
// Hashes a graph, to tell programs of the same name apart.
#pragma once

#include <bit>

#include "meshtensor/base/hash_combine.hpp"
#include "meshtensor/graph/module.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// Differs, almost surely, if two graphs differ in nodes, dims, paths, numbers, variables, requested placements or
/// operations of the user's own. Source lines do not count, so that moving a program in its file changes nothing.
constexpr std::uint64_t fingerprint(module const& m) {
  hash_combine mix;
  for (int i = 0; i < m.name_count; ++i) mix(m.names[i].w0, m.names[i].w1, m.names[i].w2, m.names[i].w3);
  auto const mix_dims = [&](shape const& dims) {
    mix(dims.count);
    for (int i = 0; i < dims.count; ++i) mix(dims.at[i]);
  };
  for (int d = 0; d < m.dim_count; ++d)
    mix(m.dims[d].kind, m.dims[d].label, m.dims[d].first, m.dims[d].second, m.dims[d].value);
  for (int p = 0; p < m.path_count; ++p) mix(m.paths[p].parent, m.paths[p].label);
  for (int r = 0; r < m.region_count; ++r) mix(m.regions[r].kind, m.regions[r].parent);
  for (int i = 0; i < m.number_count; ++i)
    mix(m.numbers[i].kind, m.numbers[i].f, m.numbers[i].first,
        m.numbers[i].kind == number_row::named ? no_id : m.numbers[i].second,
        std::bit_cast<std::uint64_t>(m.numbers[i].value.real), m.numbers[i].value.rest);
  for (int i = 0; i < m.variable_count; ++i) {
    variable const& v = m.variables[i];
    mix(v.path, v.type, v.trainable, v.start, v.number, v.own, v.equal, v.merge, v.along);
    mix_dims(v.dims);
  }
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    mix(n.kind, n.function, n.region, n.path);
    for (id a : n.attribute) mix(a);
    mix(n.operands.first, n.operands.count, n.results.first, n.results.count);
  }
  for (int i = 0; i < m.link_count; ++i) mix(m.links[i]);
  for (int i = 0; i < m.request_count; ++i) {
    mix(m.requests[i].dim, m.requests[i].count);
    for (int k = 0; k < m.requests[i].count; ++k) mix(m.requests[i].axes[k]);
  }
  for (int i = 0; i < m.call_count; ++i) {
    mix(m.calls[i].label);
    mix_dims(m.calls[i].whole);
    mix_dims(m.calls[i].gives);
  }
  for (int i = 0; i < m.reshape_count; ++i) {
    mix_dims(m.reshapes[i].same.before);
    mix_dims(m.reshapes[i].same.after);
  }
  for (int i = 0; i < m.window_count; ++i) {
    window_row const& w = m.windows[i];
    mix(w.input, w.output, w.kernel, w.stride, w.dilation, w.low, w.high);
  }
  for (int i = 0; i < m.extension_count; ++i) mix(m.extensions[i].label);
  for (int v = 0; v < m.value_count; ++v) {
    mix(m.values[v].type);
    mix_dims(m.values[v].dims);
  }
  return mix.hash;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

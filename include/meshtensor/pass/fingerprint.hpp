// SPDX-License-Identifier: Apache-2.0
// Hashes a graph, so that programs with the same name can be told apart.
#pragma once

#include <bit>

#include "meshtensor/base/hash_combine.hpp"
#include "meshtensor/graph/module.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// A number that almost surely differs if the structures of two graphs differ. The structure consists of nodes, dims,
/// names, numbers, requested placements and the user's own operations. Source lines do not count.
constexpr std::uint64_t fingerprint(module const& m) {
  hash_combine mix;
  for (int i = 0; i < m.name_count; ++i) mix(m.names[i].w0, m.names[i].w1, m.names[i].w2, m.names[i].w3);
  for (int d = 0; d < m.dim_count; ++d) mix(m.dims[d].kind, m.dims[d].label, m.dims[d].first, m.dims[d].value);
  for (int i = 0; i < m.number_count; ++i)
    mix(m.numbers[i].kind, m.numbers[i].f, m.numbers[i].first,
        m.numbers[i].kind == number_row::named ? no_id : m.numbers[i].second,
        std::bit_cast<std::uint64_t>(m.numbers[i].value.real), m.numbers[i].value.rest);
  for (int i = 0; i < m.variable_count; ++i)
    mix(m.variables[i].path, m.variables[i].type, m.variables[i].start, m.variables[i].number);
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
    mix(m.calls[i].label, m.calls[i].whole.count, m.calls[i].gives.count);
    for (int k = 0; k < m.calls[i].whole.count; ++k) mix(m.calls[i].whole.at[k]);
    for (int k = 0; k < m.calls[i].gives.count; ++k) mix(m.calls[i].gives.at[k]);
  }
  for (int i = 0; i < m.window_count; ++i) {
    window_row const& w = m.windows[i];
    mix(w.input, w.output, w.kernel, w.stride, w.dilation, w.low, w.high);
  }
  for (int i = 0; i < m.extension_count; ++i) mix(m.extensions[i].label);
  for (int v = 0; v < m.value_count; ++v) {
    value const& x = m.values[v];
    mix(x.type, x.dims.count);
    for (int i = 0; i < x.dims.count; ++i) mix(x.dims.at[i]);
  }
  return mix.hash;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

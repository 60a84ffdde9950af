// SPDX-License-Identifier: Apache-2.0
// The identity of a random node, which does not depend on other paths or programs.
#pragma once

#include <cstdint>

#include "meshtensor/graph/module.hpp"

namespace meshtensor {

/// The identity of a random node: its path and its index among the random nodes of that path.
constexpr std::uint64_t identity_of(module const& m, path_id path, id ordinal) {
  std::uint64_t hash = 0xcbf29ce484222325ull + ordinal;
  for (path_id p = path; p != no_id; p = m.paths[p].parent) {
    name const& label = m.names[m.paths[p].label];
    for (std::uint64_t word : {label.w0, label.w1, label.w2, label.w3}) hash = (hash ^ word) * 0x100000001b3ull;
    hash ^= hash >> 29;
  }
  return hash;
}

/// The identity of a random node, including its entry's name, so that it differs from those of other programs.
constexpr std::uint64_t identity_of(module const& m, node const& n) {
  region_id r = n.region;
  while (m.regions[r].parent != no_id) r = m.regions[r].parent;
  std::uint64_t hash = identity_of(m, n.path, n.ordinal);
  name const& entry = m.names[m.regions[r].label];
  for (std::uint64_t word : {entry.w0, entry.w1, entry.w2, entry.w3}) hash = (hash ^ word) * 0x100000001b3ull;
  return hash ^ hash >> 29;
}

}  // namespace meshtensor

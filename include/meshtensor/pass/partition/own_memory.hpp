// SPDX-License-Identifier: Apache-2.0
// Gives a value memory of its own if it would otherwise share another value's memory.
#pragma once

#include "meshtensor/graph/builder.hpp"
#include "meshtensor/pass/schedule.hpp"

namespace meshtensor::detail {

/// The value whose memory `v` shares.
constexpr value_id owner_of_memory(module const& m, value_id v) {
  while (shares_memory(m.nodes[m.values[v].node])) v = m.operand(m.nodes[m.values[v].node], 0);
  return v;
}
constexpr bool shares_argument(module const& m, value_id v) {
  return m.nodes[m.values[owner_of_memory(m, v)].node].kind == primitive::argument;
}
/// A copy of `v` in the region of `v`.
constexpr value_id copied(builder& b, value_id v) {
  auto& m = b.m;
  region_id const here = b.region;
  b.region = m.values[v].region;
  value_id const made = b.add(primitive::elementwise, static_cast<std::uint8_t>(function::copy), ids(&v, 1),
                              m.values[v].type, m.values[v].dims);
  m.values[made].layout = m.values[v].layout;
  b.region = here;
  return made;
}

}  // namespace meshtensor::detail

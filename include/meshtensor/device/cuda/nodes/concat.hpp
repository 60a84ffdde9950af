// SPDX-License-Identifier: Apache-2.0
// Runs concat on the GPU by a copy of each operand.
#pragma once

#include "meshtensor/device/cuda/nodes/node_setup.hpp"
#include "meshtensor/op/concat.hpp"

namespace meshtensor::cuda {

inline node_work concat_of(node_setup const& s) {
  return [&copier = s.copier](recording& to_do, evaluation const& e, address, address) {
    concat_attributes const a = concat_attributes::of(e.n);
    view const &x = e.operands[0], &z = e.results[0];
    int const along = z.find(a.to);
    view part = z;
    part.extent[along] = x.extent[x.find(a.first)];
    copier.by_name(to_do, x, 0, part, 0, a.first, a.to, part.extent);
    std::int64_t const first = part.extent[along] * z.stride[along];
    part.extent[along] = e.operands[1].extent[e.operands[1].find(a.second)];
    copier.by_name(to_do, e.operands[1], 0, part, first, a.second, a.to, part.extent);
  };
}

}  // namespace meshtensor::cuda

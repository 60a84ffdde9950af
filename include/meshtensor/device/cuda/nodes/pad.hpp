// SPDX-License-Identifier: Apache-2.0
// Runs pad on the GPU: it fills the result with the number around, and copies one box.
#pragma once

#include "meshtensor/device/cuda/nodes/node_setup.hpp"
#include "meshtensor/device/cuda/nodes/number_filler.hpp"
#include "meshtensor/op/pad.hpp"

namespace meshtensor::cuda {

inline node_work pad_of(node_setup const& s) {
  number_filler const filler(s.p, s.result.type);
  return [&copier = s.copier, filler](recording& to_do, evaluation const& e, address state, address) {
    pad_attributes const a = pad_attributes::of(e.n);
    positions const at = pad_rule::positions_in(e);
    view y = e.results[0];
    filler.fill(to_do, y, a.around, state);
    int const along = y.find(a.to);
    std::int64_t const first = at.first * y.stride[along];
    y.stride[along] *= at.step;
    for (int i = 0; i < y.count; ++i)  // the extents of the operand
      if (int const from = e.operands[0].find(i == along ? id{a.from} : id{y.dim[i]}); from >= 0)
        y.extent[i] = e.operands[0].extent[from];
    copier.by_name(to_do, e.operands[0], 0, y, first, a.from, a.to, y.extent);
  };
}

}  // namespace meshtensor::cuda

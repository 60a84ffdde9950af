// SPDX-License-Identifier: Apache-2.0
// Runs slice on the GPU by a copy of one box.
#pragma once

#include "meshtensor/device/cuda/nodes/node_setup.hpp"
#include "meshtensor/op/slice.hpp"

namespace meshtensor::cuda {

inline node_work slice_of(node_setup const& s) {
  return [&copier = s.copier](recording& to_do, evaluation const& e, address, address) {
    strided_window const a = strided_window::of(e.n);
    positions const at = window_positions(e);
    view x = e.operands[0];
    int const along = x.find(a.from);
    std::int64_t const first = at.first * x.stride[along];
    x.stride[along] *= at.step;
    copier.by_name(to_do, x, first, e.results[0], 0, a.from, a.to, e.results[0].extent);
  };
}

}  // namespace meshtensor::cuda

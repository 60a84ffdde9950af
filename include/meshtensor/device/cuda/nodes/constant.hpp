// SPDX-License-Identifier: Apache-2.0
// Runs constant on the GPU.
#pragma once

#include "meshtensor/device/cuda/nodes/node_setup.hpp"
#include "meshtensor/device/cuda/nodes/number_filler.hpp"
#include "meshtensor/op/constant.hpp"

namespace meshtensor::cuda {

inline node_work constant_of(node_setup const& s) {
  number_filler const filler(s.p, s.result.type);
  return [filler](recording& to_do, evaluation const& e, address state, address) {
    filler.fill(to_do, e.results[0], constant_attributes::of(e.n).number, state);
  };
}

}  // namespace meshtensor::cuda

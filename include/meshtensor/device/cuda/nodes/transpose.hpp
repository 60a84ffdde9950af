// SPDX-License-Identifier: Apache-2.0
// Runs transpose and broadcast on the GPU, both by one copy by the names of dims.
#pragma once

#include "meshtensor/device/cuda/nodes/node_setup.hpp"

namespace meshtensor::cuda {

inline node_work transpose_of(node_setup const& s) {
  constexpr auto none = id{no_id};
  return [&copier = s.copier](recording& to_do, evaluation const& e, address, address) {
    copier.by_name(to_do, e.operands[0], 0, e.results[0], 0, none, none, e.results[0].extent);
  };
}

}  // namespace meshtensor::cuda

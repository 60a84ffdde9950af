// SPDX-License-Identifier: Apache-2.0
// Runs transpose and broadcast on the GPU, both by one copy by the names of dims.
#pragma once

#include "meshtensor/device/cuda/box_copier.hpp"

namespace meshtensor::cuda {

inline node_work transpose_of(box_copier const& copier) {
  constexpr auto none = id{no_id};
  return [&copier](recording& to_do, evaluation const& e, address, address) {
    copier.by_name(to_do, e.operands[0], 0, e.results[0], 0, none, none, e.results[0].extent);
  };
}

}  // namespace meshtensor::cuda

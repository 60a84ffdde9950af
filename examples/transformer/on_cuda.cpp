// SPDX-License-Identifier: Apache-2.0
// passes: start-up
#include <meshtensor/device/cuda/device.hpp>

#include "learner_of.hpp"

namespace transformer {

std::unique_ptr<learner> learner_on_cuda(mt::store& weights, options const& o) {
  return std::make_unique<learner_of<mt::cuda_device>>(weights, o);
}

}  // namespace transformer

// SPDX-License-Identifier: Apache-2.0
// passes: start-up
#include <meshtensor/device/pjrt/device.hpp>

#include "learner_of.hpp"

namespace transformer {

std::unique_ptr<learner> learner_on_pjrt(mt::store& weights, options const& o) {
  return std::make_unique<learner_of<mt::pjrt_device>>(weights, o);
}

}  // namespace transformer

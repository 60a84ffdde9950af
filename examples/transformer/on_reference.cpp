// SPDX-License-Identifier: Apache-2.0
// passes: start-up
#include <meshtensor/device/reference.hpp>

#include "learner_of.hpp"

namespace transformer {

std::unique_ptr<learner> learner_on_reference(mt::store& weights, options const& o) {
  return std::make_unique<learner_of<mt::reference_device>>(weights, o);
}

}  // namespace transformer

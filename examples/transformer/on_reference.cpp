// SPDX-License-Identifier: Apache-2.0
// passes: start-up
#include <meshtensor/device/reference.hpp>

#include "learner_of.hpp"

namespace transformer {

template std::unique_ptr<learner> learner_on<mt::reference_device>(mt::store&, options const&);

}  // namespace transformer

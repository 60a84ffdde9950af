// SPDX-License-Identifier: Apache-2.0
// Declares the Transformer's programs on the devices of MESHTENSOR_EXAMPLE_DEVICES, each compiled in its own file.
#pragma once

#include "../common/built_devices.hpp"
#include "learner.hpp"

namespace transformer {

#if MESHTENSOR_EXAMPLE_REFERENCE
extern template std::unique_ptr<learner> learner_on<mt::reference_device>(mt::store&, options const&);
#endif
#if MESHTENSOR_EXAMPLE_CUDA
extern template std::unique_ptr<learner> learner_on<mt::cuda_device>(mt::store&, options const&);
#endif
#if MESHTENSOR_EXAMPLE_PJRT
extern template std::unique_ptr<learner> learner_on<mt::pjrt_device>(mt::store&, options const&);
#endif

}  // namespace transformer

// SPDX-License-Identifier: Apache-2.0
// Defines the default device of an executable, which is the fastest that this build has.
#pragma once

#if MESHTENSOR_WITH_ONEDNN && MESHTENSOR_WITH_TBB
#  include "meshtensor/device/cpu/device.hpp"
#endif
#include "meshtensor/device/reference.hpp"

namespace meshtensor {

#if MESHTENSOR_WITH_ONEDNN && MESHTENSOR_WITH_TBB
/// The device of an executable that names none: `cpu_device` if the program is built with oneDNN and oneTBB, otherwise
/// `reference_device`.
using default_device = cpu_device;
#else
/// Plain loops, because this program is built without oneDNN or oneTBB.
using default_device = reference_device;
#endif

}  // namespace meshtensor

// SPDX-License-Identifier: Apache-2.0
// passes: start-up
#include <meshtensor/device/pjrt/device.hpp>

#include "devices.hpp"
#include "training.hpp"

namespace transformer {

int run_on_pjrt(mt::job const& job, options const& o, mt::text_windows const& windows) {
  return run<mt::pjrt_device>(job, o, windows);
}

}  // namespace transformer

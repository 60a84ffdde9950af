// SPDX-License-Identifier: Apache-2.0
// Casts of floats to integers that do not hold them, on a PJRT plugin.
// passes: start-up
// sanitize: no
// part: pjrt
#include "unit/op/casts.hpp"

#include "meshtensor/device/pjrt/device.hpp"
#include "support/pjrt.hpp"

TEST_CASE("a float gives the nearest integer towards zero, and NaN gives 0") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  casts::check_all<casts::mt::pjrt_device>();
}

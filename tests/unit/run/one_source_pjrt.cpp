// SPDX-License-Identifier: Apache-2.0
// One source on a PJRT plugin for processors: the losses of unit/run/one_source.
// passes: start-up
// sanitize: no
// timeout: 600
// part: pjrt
#include "unit/run/one_source.hpp"

#include <doctest/doctest.h>

#include "meshtensor/device/pjrt/device.hpp"
#include "support/pjrt.hpp"

using namespace one_source;

TEST_CASE("pjrt, on processors") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  trains_as_plain_loops<mt::pjrt_device>();
}

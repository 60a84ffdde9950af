// SPDX-License-Identifier: Apache-2.0
// One source on the cpu device and on a device of the tests: twenty losses of a Transformer under four layouts are
// those of plain loops. (one_source_cuda and one_source_pjrt have the other devices.)
// needs: cpu
// passes: start-up
// sanitize: no
// timeout: 600
#include "unit/run/one_source.hpp"

#include <doctest/doctest.h>

#include "meshtensor/device/cpu/device.hpp"
#include "support/late_machine.hpp"

using namespace one_source;

// Another device gets a test case here.

TEST_CASE("cpu") { trains_as_plain_loops<mt::cpu_device>(); }

TEST_CASE("a device of the tests, whose four queues run late and out of order") {
  meshtensor_test::late_here const here;
  trains_as_plain_loops<meshtensor_test::late_device>();
  CHECK(here.machine.out_of_order > 0);
}

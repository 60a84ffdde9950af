// SPDX-License-Identifier: Apache-2.0
// Two threads step on one store, on the cpu device.
// needs: cpu
// passes: start-up
// sanitize: yes
#include "unit/run/two_threads.hpp"

#include "meshtensor/device/cpu/device.hpp"

namespace mt = meshtensor;
using two_threads::take_turns;

TEST_CASE("two threads take turns on the cpu device") {
  SUBCASE("in lockstep") { take_turns<mt::cpu_device>(mt::job::in_lockstep(), 2, 200); }
  SUBCASE("threads") { take_turns<mt::cpu_device>(mt::job::as_threads(), 2, 200); }
}

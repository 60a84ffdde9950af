// SPDX-License-Identifier: Apache-2.0
// Steps that the compiler has written out give the bits of the engine that reads a list, on the cpu device.
// needs: cpu
// timeout: 300
// alone
// part: compiled
#include "meshtensor/device/cpu/device.hpp"
#include "support/compiled_steps.hpp"

using namespace compiled_steps;

TEST_CASE("on threads") { check_all<on<3, 1>, mt::cpu_device>(mt::job::as_threads()); }

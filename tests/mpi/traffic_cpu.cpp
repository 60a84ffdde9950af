// SPDX-License-Identifier: Apache-2.0
// What runs on the cpu device is what the plan says, too: fusing neither adds a call nor loses one.
// passes: start-up
// ranks: 2 4
// needs: mpi cpu
#include "meshtensor/device/cpu/device.hpp"
#include "mpi/traffic.hpp"
#include "property/outcome.hpp"

using namespace property;

TEST_CASE("the calls of a step on the cpu device are those of its plan") {
  traffic::trial t{mt::cpu_device(1)};
  t.add_spread("language_model in f32");
  CHECK(t.runs == 1);
  CHECK(t.kernels > 0);
  CHECK(t.functions["ialltoall"] + t.functions["ialltoallv"] > 0);
  CHECK(t.functions["iallgather"] + t.functions["iallgatherv"] > 0);
}

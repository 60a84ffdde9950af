// SPDX-License-Identifier: Apache-2.0
// Random programs under random layouts, as threads: what the interpreter gives, the same bits in lockstep, as threads
// and where everything is as late as it may be.
// timeout: 300
#include "property/random_run.hpp"

using namespace property;

TEST_CASE("random programs under random layouts") {
  random_run run(2000);
  run.each(random_meshes(), fault_on_threads);
  run.say();
  if (!run.is_asked_for()) at_least(2000, run.counted());
}

TEST_CASE("random graphs of integers near the limits under random layouts") {
  random_run run(400, 100000, &whole_programs::of_integers_near_limits);
  run.each(random_meshes(), fault_on_threads);
  run.say();
  if (!run.is_asked_for()) at_least(400, run.counted());
}

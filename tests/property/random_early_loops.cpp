// SPDX-License-Identifier: Apache-2.0
// Random programs with branches and loops that may end early, under random layouts, as threads: what the interpreter
// gives, the same bits in lockstep, as threads and where everything is as late as it may be.
// timeout: 300
#include "property/random_run.hpp"

using namespace property;

TEST_CASE("random programs of loops that may end early under random layouts") {
  random_run run(1000, 300000, &whole_programs::of_loops_that_may_end_early);
  run.each(random_meshes(), fault_on_threads);
  run.say();
  if (!run.is_asked_for()) at_least(1000, run.counted());
}

// SPDX-License-Identifier: Apache-2.0
// Loops and composites: what the compiler plans is what start-up plans.
// sample
// sanitize: no
#include "property/compiled.hpp"

TEST_CASE("lowered by the compiler and at start-up") {
  compiled::check<programs::asked>("asked");
  compiled::check<programs::recurrent>("recurrent");
  compiled::check<programs::trading>("trading");
  compiled::check<programs::composites>("composites");
  compiled::check<programs::decided>("decided");
  property::at_least(15, compiled::twins);
}

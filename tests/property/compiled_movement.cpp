// SPDX-License-Identifier: Apache-2.0
// Movement, lookups and random numbers: what the compiler plans is what start-up plans.
// sanitize: no
// part: compiled
#include "property/compiled.hpp"

TEST_CASE("lowered by the compiler and at start-up") {
  compiled::check<programs::softmaxes>("softmaxes");
  compiled::check<programs::movements>("movements");
  compiled::check<programs::orders>("orders");
  compiled::check<programs::lookups>("lookups");
  compiled::check<programs::noise>("noise");
  property::at_least(15, compiled::twins);
}

// SPDX-License-Identifier: Apache-2.0
// Training: what the compiler plans is what start-up plans.
// sanitize: no
// part: compiled
#include "property/compiled.hpp"

TEST_CASE("lowered by the compiler and at start-up") {
  compiled::check<programs::mlp>("mlp");
  compiled::check<programs::nested>("nested");
  compiled::check<programs::classifier>("classifier");
  compiled::check<programs::memories>("memories");
  property::at_least(12, compiled::twins);
}

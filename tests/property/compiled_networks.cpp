// SPDX-License-Identifier: Apache-2.0
// Networks: what the compiler plans is what start-up plans.
// sanitize: no
// part: compiled
#include "property/compiled.hpp"

TEST_CASE("lowered by the compiler and at start-up") {
  compiled::check<programs::attending>("attending");
  compiled::check<programs::adversaries>("adversaries");
  compiled::check<programs::in_parts>("in_parts");
  compiled::check<programs::language_model>("language_model");
  compiled::check<programs::translator>("translator");
  property::at_least(15, compiled::twins);
}

// SPDX-License-Identifier: Apache-2.0
// Gradients of gradients: what the compiler plans is what start-up plans.
// sanitize: no
// part: compiled
#include "property/compiled.hpp"

TEST_CASE("lowered by the compiler and at start-up") {
  compiled::check<programs::penalised>("penalised");
  property::at_least(3, compiled::twins);
}

// SPDX-License-Identifier: Apache-2.0
// Operations and their gradients: what the compiler plans is what start-up plans.
// sanitize: no
// part: compiled
#include "property/compiled.hpp"

TEST_CASE("lowered by the compiler and at start-up") {
  compiled::check<programs::functions>("functions");
  compiled::check<programs::discrete>("discrete");
  compiled::check<programs::contractions>("contractions");
  compiled::check<programs::reductions>("reductions");
  compiled::check<programs::not_finite>("not_finite");
  property::at_least(15, compiled::twins);
}

// SPDX-License-Identifier: Apache-2.0
// Every policy of replicas gives the same under every layout.
// timeout: 300
#include "property/program.hpp"
#include "property/regime_programs.hpp"

using namespace property;

TEST_CASE("replicas train alike under every layout") {
  tally t;
  for (regimes::listed_regime const& r : regimes::all())
    hold_under_every_layout(r.label, *r.trace(), r.entry, {.assignments = 24, .drawn = 8, .steps = 3}, t);
  at_least(100, t.tried);
}

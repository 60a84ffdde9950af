// SPDX-License-Identifier: Apache-2.0
// Programs of many operations and their gradients, under every layout.
// timeout: 300
#include "property/program.hpp"

using namespace property;

TEST_CASE("programs of operations under every layout") {
  tally t;
  hold_under_every_layout("functions", {}, t);
  hold_under_every_layout("discrete", {.tolerance = 0}, t);
  hold_under_every_layout("contractions", {}, t);
  hold_under_every_layout("reductions", {}, t);
  hold_under_every_layout("softmaxes", {}, t);
  hold_under_every_layout("not_finite", {}, t);
  at_least(380, t.tried);
}

// SPDX-License-Identifier: Apache-2.0
// Networks and their optimizers, trained, under every layout.
// timeout: 300
#include "property/program.hpp"

using namespace property;

TEST_CASE("classifiers and adversaries under every layout") {
  tally t;
  hold_under_every_layout("classifier", {.assignments = 600, .drawn = 40}, t);
  hold_under_every_layout("adversaries", {.assignments = 256, .drawn = 40}, t);
  hold_under_every_layout("in_parts", {.assignments = 100, .drawn = 20}, t);
  hold_under_every_layout("attending", {.assignments = 100, .drawn = 20}, t);
  hold_under_every_layout("choosing", {.assignments = 100, .drawn = 20}, t);
  at_least(1020, t.tried);
}

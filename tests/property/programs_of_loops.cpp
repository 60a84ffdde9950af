// SPDX-License-Identifier: Apache-2.0
// Loops, loops within loops and composites, trained, under every layout.
// timeout: 300
#include "property/program.hpp"

using namespace property;

TEST_CASE("programs of loops under every layout") {
  tally t;
  hold_under_every_layout("mlp", {.drawn = 40}, t);
  hold_under_every_layout("recurrent", {.drawn = 40}, t);
  hold_under_every_layout("trading", {.drawn = 40}, t);
  hold_under_every_layout("nested", {.drawn = 40}, t);
  hold_under_every_layout("composites", {.drawn = 40}, t);
  hold_under_every_layout("settled", {.assignments = 256, .drawn = 24}, t);
  hold_under_every_layout("decided", {.assignments = 256, .drawn = 24}, t);
  hold_under_every_layout("averaged", {.assignments = 256, .drawn = 40}, t);
  at_least(1500, t.tried);
}

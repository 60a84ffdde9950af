// SPDX-License-Identifier: Apache-2.0
// Programs that move numbers about, look them up and draw them, and their gradients, under every layout.
// timeout: 300
#include "property/program.hpp"

using namespace property;

TEST_CASE("programs of movement under every layout") {
  tally t;
  hold_under_every_layout("movements", {}, t);
  hold_under_every_layout("orders", {}, t);
  hold_under_every_layout("surrounded", {}, t);
  hold_under_every_layout("lookups", {}, t);
  hold_under_every_layout("noise", {}, t);
  hold_under_every_layout("asked", {}, t);
  hold_under_every_layout("memories", {.steps = 4}, t);
  at_least(1300, t.tried);
}

// SPDX-License-Identifier: Apache-2.0
// Networks of convolutions and norms of images, trained, under every layout.
// timeout: 300
#include "property/program.hpp"

using namespace property;

TEST_CASE("programs of images under every layout") {
  tally t;
  hold_under_every_layout("images", {.assignments = 100, .drawn = 10, .steps = 3}, t);
  hold_under_every_layout("normed", {.assignments = 60, .drawn = 6}, t);
  at_least(100, t.tried);
}

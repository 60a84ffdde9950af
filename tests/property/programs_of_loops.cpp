// Loops, loops within loops and composites, trained, under every layout.
// timeout: 300
#include "property/program.hpp"

using namespace property;

TEST_CASE("programs of loops under every layout") {
  tally t;
  hold_under_every_layout<programs::mlp>("mlp", {.drawn = 40}, t);
  hold_under_every_layout<programs::recurrent>("recurrent", {.drawn = 40}, t);
  hold_under_every_layout<programs::trading>("trading", {.drawn = 40}, t);
  hold_under_every_layout<programs::nested>("nested", {.drawn = 40}, t);
  hold_under_every_layout<programs::composites>("composites", {.drawn = 40}, t);
  if (!quick()) CHECK(t.tried >= 1800);
}

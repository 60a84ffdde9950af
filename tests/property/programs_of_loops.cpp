// Loops, loops within loops and composites, trained, under every layout.
// timeout: 300
#include "property/program.hpp"

using namespace property;

TEST_CASE("programs of loops under every layout") {
  tally t;
<<<<<<< HEAD
  hold_under_every_layout("mlp", {.drawn = 40}, t);
  hold_under_every_layout("recurrent", {.drawn = 40}, t);
  hold_under_every_layout("trading", {.drawn = 40}, t);
  hold_under_every_layout("nested", {.drawn = 40}, t);
  hold_under_every_layout("composites", {.drawn = 40}, t);
  if (!quick()) CHECK(t.tried >= 1800);
=======
  hold_under_every_layout<programs::mlp>("mlp", {.drawn = 40}, t);
  hold_under_every_layout<programs::recurrent>("recurrent", {.drawn = 40}, t);
  hold_under_every_layout<programs::trading>("trading", {.drawn = 40}, t);
  hold_under_every_layout<programs::nested>("nested", {.drawn = 40}, t);
  hold_under_every_layout<programs::composites>("composites", {.drawn = 40}, t);
  at_least(1400, t.tried);
>>>>>>> efff4b1 (Property tests assert how many different cases they try; a script adds them up: more than 100,000)
}

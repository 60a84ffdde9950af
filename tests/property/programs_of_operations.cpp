// Programs of many operations and their gradients, under every layout.
// timeout: 300
#include "property/program.hpp"

using namespace property;

TEST_CASE("programs of operations under every layout") {
  tally t;
  hold_under_every_layout<programs::functions>("functions", {}, t);
  hold_under_every_layout<programs::discrete>("discrete", {.tolerance = 0}, t);
  hold_under_every_layout<programs::contractions>("contractions", {}, t);
  hold_under_every_layout<programs::reductions>("reductions", {}, t);
  hold_under_every_layout<programs::softmaxes>("softmaxes", {}, t);
  if (!quick()) CHECK(t.tried >= 1300);
}

// Transformers, trained, under many layouts; and programs in other precisions.
// timeout: 300
#include "property/program.hpp"

using namespace property;

TEST_CASE("transformers under many layouts") {
  tally t;
  hold_under_every_layout<programs::language_model>("language_model", {.assignments = 30, .drawn = 30}, t);
  hold_under_every_layout<programs::translator>("translator", {.assignments = 20, .drawn = 20}, t);
}

TEST_CASE("in other precisions") {
  tally t;
  hold_under_every_layout<programs::classifier, mt::dtype::f32>("classifier",
                                                                {.assignments = 40, .drawn = 10, .tolerance = 2e-4}, t);
}

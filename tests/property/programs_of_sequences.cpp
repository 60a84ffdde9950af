// Transformers, trained, under many layouts; and programs in other precisions.
// timeout: 300
#include "property/program.hpp"

using namespace property;

TEST_CASE("transformers under many layouts") {
  tally t;
  hold_under_every_layout("language_model", {.assignments = 30, .drawn = 30}, t);
  hold_under_every_layout("translator", {.assignments = 20, .drawn = 20}, t);
  at_least(260, t.tried);
}

TEST_CASE("in other precisions") {
  tally t;
  program_case const f32{.assignments = 100, .drawn = 20, .tolerance = 2e-4};
  hold_under_every_layout("classifier in f32", f32, t);
  hold_under_every_layout("recurrent in f32", f32, t);
  program_case const bf16{.assignments = 100, .drawn = 20, .tolerance = 0.05};
  hold_under_every_layout("bf16 with parameters in f32", bf16, t);
  at_least(640, t.tried);
}

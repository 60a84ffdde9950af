// SPDX-License-Identifier: Apache-2.0
// Transformers, trained, under many layouts; and programs in other precisions.
// timeout: 300
#include "property/program.hpp"

using namespace property;

TEST_CASE("transformers under many layouts") {
  tally t;
  hold_under_every_layout("language_model", {.assignments = 15, .drawn = 15}, t);
  hold_under_every_layout("translator", {.assignments = 12, .drawn = 12}, t);
  at_least(150, t.tried);
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

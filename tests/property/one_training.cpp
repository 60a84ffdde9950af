// SPDX-License-Identifier: Apache-2.0
// A whole training does not depend on the layout: twenty steps of a Transformer with dropout and AdamW on one to eight
// processors lose what they lose on one, within rounding; on the same mesh again, every bit is the same.
//
// timeout: 300
#include "property/one_training.hpp"

#include "property/sample.hpp"

using namespace training;

TEST_CASE("in f64") { property::at_least(8, hold<mt::dtype::f64>(1e-9, mt::reference_device())); }
TEST_CASE("in f32") { property::at_least(8, hold<mt::dtype::f32>(1e-4, mt::reference_device())); }

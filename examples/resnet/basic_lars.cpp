// SPDX-License-Identifier: Apache-2.0
// passes: start-up
#include "learner_of.hpp"

namespace resnet {

namespace {
template <class Program>
using computed = mt::precision<Program, mt::f32, mt::f32>;
struct learn : computed<train_in_parts<basic, with_lars>> {};
struct look : computed<evaluate<basic, false>> {};
struct look_at_average : computed<evaluate<basic, true>> {};
struct move_average : computed<follow<basic>> {};
}  // namespace

std::unique_ptr<learner> basic_lars(learner_needs const& needs) {
  return learner_on_device<basic, true, learn, look, look_at_average, move_average>(needs);
}

}  // namespace resnet

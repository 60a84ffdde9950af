// SPDX-License-Identifier: Apache-2.0
// passes: start-up
#include "learner_of.hpp"

namespace resnet {

namespace {
template <class Program>
using computed = mt::precision<Program, mt::f32, mt::bf16>;
struct learn : computed<train_step<basic, with_nesterov>> {};
struct look : computed<evaluate<basic, false>> {};
struct look_at_average : computed<evaluate<basic, true>> {};
struct move_average : computed<follow<basic>> {};
}  // namespace

std::unique_ptr<learner> basic_bf16(learner_needs const& needs) {
  return learner_on_device<basic, false, learn, look, look_at_average, move_average>(needs);
}

}  // namespace resnet

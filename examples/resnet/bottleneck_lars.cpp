// SPDX-License-Identifier: Apache-2.0
// passes: start-up
#include "learner_of.hpp"

namespace resnet {

namespace {
template <class Program>
using computed = mt::precision<Program, mt::f32, mt::f32>;
struct learn : computed<train_in_parts<bottleneck, with_lars>> {};
struct look : computed<evaluate<bottleneck, false>> {};
struct look_at_average : computed<evaluate<bottleneck, true>> {};
struct move_average : computed<follow<bottleneck>> {};
}  // namespace

std::unique_ptr<learner> bottleneck_lars(learner_needs const& needs) {
  return learner_on_device<bottleneck, true, learn, look, look_at_average, move_average>(needs);
}

}  // namespace resnet

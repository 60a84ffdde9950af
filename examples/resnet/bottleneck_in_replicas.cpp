// SPDX-License-Identifier: Apache-2.0
// passes: start-up
#include "in_replicas_of.hpp"

namespace resnet {

namespace {
struct learn : train_step<bottleneck, with_nesterov> {};
struct look : evaluate<bottleneck, false> {};
struct look_at_average : evaluate<bottleneck, true> {};
struct move_average : follow<bottleneck> {};
}  // namespace

std::unique_ptr<learner> bottleneck_in_replicas(learner_needs const& needs) {
  return replicas_on_device<bottleneck, learn, look, look_at_average, move_average>(needs);
}

}  // namespace resnet

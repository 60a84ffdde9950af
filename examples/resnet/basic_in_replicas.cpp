// SPDX-License-Identifier: Apache-2.0
// passes: start-up
#include "in_replicas_of.hpp"

namespace resnet {

namespace {
struct learn : train_step<basic, with_nesterov> {};
struct look : evaluate<basic, false> {};
struct look_at_average : evaluate<basic, true> {};
struct move_average : follow<basic> {};
}  // namespace

std::unique_ptr<learner> basic_in_replicas(learner_needs const& needs) {
  return replicas_on_device<basic, learn, look, look_at_average, move_average>(needs);
}

}  // namespace resnet

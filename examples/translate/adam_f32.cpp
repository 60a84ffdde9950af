// SPDX-License-Identifier: Apache-2.0
#include "learner_of.hpp"

namespace translation {

namespace {
struct programs : mt::programs<train_step<with_adam>, evaluate> {};
}  // namespace

std::unique_ptr<learner> adam_f32(learner_needs const& needs) {
  return learner_on_device<programs, train_step<with_adam>, evaluate>(needs);
}

}  // namespace translation

// SPDX-License-Identifier: Apache-2.0
#include "learner_of.hpp"

namespace translation {

namespace {
struct learn : mt::precision<train_step<with_adam>, mt::f32, mt::bf16> {};
struct look : mt::precision<evaluate, mt::f32, mt::bf16> {};
struct programs : mt::programs<learn, look> {};
}  // namespace

std::unique_ptr<learner> adam_bf16(learner_needs const& needs) {
  return learner_on_device<programs, learn, look>(needs);
}

}  // namespace translation

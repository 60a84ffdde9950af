// SPDX-License-Identifier: Apache-2.0
#include "pendulum.hpp"

#include "learner_of.hpp"

namespace ppo {

std::unique_ptr<learner> pendulum_f64(mt::store& weights, options const& o) {
  return learner_on_device<pendulum, pendulum_model, mt::f64>(weights, o);
}

}  // namespace ppo

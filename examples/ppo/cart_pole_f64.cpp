// SPDX-License-Identifier: Apache-2.0
#include "cart_pole.hpp"

#include "learner_of.hpp"

namespace ppo {

std::unique_ptr<learner> cart_pole_f64(mt::store& weights, options const& o) {
  return learner_on_device<cart_pole, cart_pole_model, mt::f64>(weights, o);
}

}  // namespace ppo

// SPDX-License-Identifier: Apache-2.0
// Generates programs at random: networks with loops, composites and state, their losses, gradients and optimizers, and
// further programs on the same parameters.
#pragma once

#include <memory>
#include <vector>

#include "meshtensor/graph/module.hpp"

namespace property {

namespace mt = meshtensor;

/// Programs that share a store: the first one trains, others evaluate, or train some of it otherwise.
struct random_programs {
  std::unique_ptr<mt::module> traced;
  std::vector<mt::name> entries;
  std::unique_ptr<mt::module> in_f64;  // of programs in f32: the same in f64
};

/// The programs of a seed, as users write them: through scopes, layers, loops and optimizers, of handles whose dims are
/// known at run time. Every function in them is smooth, so that rounding stays rounding.
random_programs write_programs(std::uint64_t seed);

}  // namespace property

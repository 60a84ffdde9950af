// SPDX-License-Identifier: Apache-2.0
// Generates random programs: networks with loops, composites and state, their losses, gradients and optimizers, and
// further programs on the same parameters.
#pragma once

#include <memory>
#include <vector>

#include "meshtensor/graph/module.hpp"

namespace property {

namespace mt = meshtensor;

/// Programs that share a store: the first one trains, others evaluate, or train some of the parameters.
struct random_programs {
  std::unique_ptr<mt::module> traced;
  std::vector<mt::name> entries;
  std::unique_ptr<mt::module> in_f64;  // the same programs in f64, if they are in f32
};

/// Whether random programs have branches and loops that may end early, too.
enum class may_end_early : bool { no, yes };

/// The programs of a seed, written as users do: with scopes, layers, loops and optimizers, and with dims known at run
/// time only. Every function in them is smooth, so that rounding errors stay small.
random_programs write_programs(std::uint64_t seed, may_end_early loops = may_end_early::no);

}  // namespace property

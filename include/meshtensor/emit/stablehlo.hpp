// SPDX-License-Identifier: Apache-2.0
// One entry of a module as a StableHLO program: what compilers of whole programs take, XLA's for CPU, GPU and TPU among
// them.
#pragma once

#include "meshtensor/emit/stablehlo/program.hpp"

namespace meshtensor {

/// An entry as StableHLO in the generic form, with a public `@main`. A module that was partitioned becomes one text for
/// all processors of the mesh, replicas of one program; a whole one is for one. Fused or not is the same.
///
/// arguments  inputs; variables that are read; numbers that are not known before the first step, scalars of the dtype
/// that
///            they are used with; where there are random numbers seed and step, ui64
/// results    outputs and next values of variables, which take over the memory of what they replace
/// layout     every replica is given its part, and gives its part, as the layout of the value says
/// errors     R01 a node that has no form yet; R10 a slice or a pad beyond its dim
template <class = lazy>
stablehlo_program stablehlo(module const& m, int entry, binding const& numbers, mesh_shape const& mesh = {}) {
  raise(m.report), raise(numbers.report);
  return hlo::program_writer(m, numbers, mesh).program(entry);
}

}  // namespace meshtensor

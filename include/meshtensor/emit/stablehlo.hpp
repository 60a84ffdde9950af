// SPDX-License-Identifier: Apache-2.0
// Emits one entry of a module as a StableHLO program, for compilers such as XLA on CPU, GPU and TPU.
#pragma once

#include "meshtensor/emit/stablehlo/program.hpp"
#include "meshtensor/emit/stablehlo/rewrite.hpp"

namespace meshtensor {

/// An entry as StableHLO in the generic form, with a public `@main`. If a module is partitioned, it becomes one SPMD
/// program for all ranks of the mesh, which are its replicas. If it is not partitioned, it is a program for one device.
/// The module may have fused kernels or none.
///
/// arguments  inputs, variables that are read, and numbers not known before the first step, as scalars of the dtype
///            that they are used with. If there are random numbers, seed and step follow as ui64
/// results    outputs and next values of variables, which alias the memory of the old values
/// layout     every replica receives and returns its shard, as the layout of the value says
/// errors     R01 a node that cannot be emitted yet; R10 a slice or a pad beyond its dim
template <class = lazy>
stablehlo_program stablehlo(module const& m, int entry, binding const& numbers, mesh_shape const& mesh = {},
                            stablehlo_options const& options = {}) {
  raise(m.report), raise(numbers.report);
  return hlo::program_writer(hlo::rewritten(m, numbers, options), numbers, mesh).program(entry);
}

}  // namespace meshtensor

// SPDX-License-Identifier: Apache-2.0
// The options of an MPI world: how it makes reductions, how long it waits, and what it does with failures.
#pragma once

#include "meshtensor/comm/mpi_algorithm.hpp"
#include "meshtensor/comm/wait_limits.hpp"

namespace meshtensor {

struct mpi_options {
  reductions made = reductions::ordered;
  /// A wait beyond these limits gives a warning, and later aborts the job. Both sentences name the missing ranks.
  wait_limits limits = {};
  /// A thread of the world drives pending collectives in the background, if MPI was initialised with
  /// MPI_THREAD_SERIALIZED or more. The program may then call MPI itself only while no collective is pending. Without
  /// the thread, only `test`, `wait` and `progress` drive them.
  bool in_background = false;
  /// An error in the middle of a step of one rank is thrown on all ranks, as R21, as soon as they wait for each other.
  bool tells = false;
  /// Every other error is thrown in the same way, and the job is not aborted. This is for a library that is embedded in
  /// another program.
  bool throws = false;
};

}  // namespace meshtensor

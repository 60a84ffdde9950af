// SPDX-License-Identifier: Apache-2.0
// Pins ranks that share a machine to separate cores.
#pragma once

#include <vector>

#include "meshtensor/base/cores.hpp"
#include "meshtensor/comm/mpi/library.hpp"

namespace meshtensor::comm {

/// Splits cores among the ranks of a communicator that share a machine and its cores. From now on, the calling thread
/// and the threads that it starts run on this rank's part. They do not if the rank does not want it, or is asked to use
/// more threads than the part has cores. All ranks must call this.
inline void keep_apart(MPI_Comm ranks, bool wants) {
  MPI_Comm machine = MPI_COMM_NULL;
  must(MPI_Comm_split_type(ranks, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine), "MPI_Comm_split_type");
  int rank = 0, size = 0;
  must(MPI_Comm_rank(machine, &rank), "MPI_Comm_rank");
  must(MPI_Comm_size(machine, &size), "MPI_Comm_size");
  std::vector<core_set> of_ranks(static_cast<std::size_t>(size));
  core_set const mine = allowed_cores();
  must(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, of_ranks.data(), sizeof mine, MPI_BYTE, machine), "MPI_Allgather");
  must(MPI_Comm_free(&machine), "MPI_Comm_free");
  core_set const own = own_cores(of_ranks, static_cast<std::size_t>(rank));
  if (wants && own != mine && static_cast<std::size_t>(asked_threads()) <= own.count()) stay_on(own);
}

}  // namespace meshtensor::comm

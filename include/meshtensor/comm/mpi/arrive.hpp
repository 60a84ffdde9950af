// SPDX-License-Identifier: Apache-2.0
// Waits until all ranks have come to make a job, and finds a rank that has left the program instead.
#pragma once

#include <chrono>
#include <thread>

#include "meshtensor/comm/mpi/session.hpp"
#include "meshtensor/comm/mpi/watch.hpp"

namespace meshtensor::comm {

/// Waits for all ranks of `user`, in which this one has the number `rank`. errors R22
inline void arrive(MPI_Comm user, int rank, mpi_session const& session, mpi_watch& watch, bool throws) {
  if (session.is_owned() && user == MPI_COMM_WORLD && !throws) {
    int const left = mpi_session::first_to_exit(false, [&](MPI_Request& all_here) { watch.arrive(all_here); });
    if (left >= 0 && rank != (left == 0 ? 1 : 0)) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    if (left >= 0)
      throw error("R22", {"it makes a job, but rank ", left,
                          " has left the program: all ranks must make the same jobs, in one order"});
  } else {
    MPI_Request all_here = MPI_REQUEST_NULL;
    must(MPI_Ibarrier(user, &all_here), "MPI_Ibarrier");
    watch.arrive(all_here);
  }
}

}  // namespace meshtensor::comm

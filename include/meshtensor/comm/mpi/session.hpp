// SPDX-License-Identifier: Apache-2.0
// Initialises MPI for the first world of a process, and finalises it when the process exits.
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <string>
#include <thread>

#include "meshtensor/comm/mpi/library.hpp"

namespace meshtensor::comm {

/// Each world holds one. The first one initialises MPI, unless the program has done so. In this case it finalises MPI
/// only at the end of the process, because a program may make another job after the first. If MPI takes calls from one
/// thread only (MPI_THREAD_SINGLE or MPI_THREAD_FUNNELED), one thread makes all calls and polls for messages: see
/// `takes_turns`.
class mpi_session {
 public:
  mpi_session() {
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    if (ended != 0)
      throw error("R25", "MPI has been finalised already, by MPI_Finalize or by exit: make the job before that");
    if (begun == 0) {
      int level = 0;
      must(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
      owner() = ::getpid();
      static bool const finalises = std::atexit(&finalise) == 0;
      static_cast<void>(finalises);
    }
    ++worlds();
  }
  mpi_session(mpi_session const&) = delete;
  mpi_session& operator=(mpi_session const&) = delete;
  ~mpi_session() { --worlds(); }
  /// Whether this library has initialised MPI.
  bool is_owned() const { return owner() == ::getpid(); }

  /// The lowest rank that exits while this one makes a job, or -1 if all ranks make one. All processes take part in
  /// each call, with a request that `wait` completes.
  template <class Wait>
  static int first_to_exit(bool exits, Wait const& wait) {
    int rank = 0, first = INT_MAX;
    must(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    int const mine = exits ? rank : INT_MAX;
    MPI_Request all_here = MPI_REQUEST_NULL;
    must(MPI_Iallreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &all_here), "MPI_Iallreduce");
    wait(all_here);
    return first == INT_MAX ? -1 : first;
  }

 private:
  // The process that has initialised MPI. Its id tells it from its forked children, which are no ranks. `worlds` is the
  // number of its worlds.
  static std::atomic<pid_t>& owner() {
    static std::atomic<pid_t> process = -1;
    return process;
  }
  static std::atomic<int>& worlds() {
    static std::atomic<int> count = 0;
    return count;
  }
  // A process that exits in the middle of a job leaves MPI as it is, so that the launcher ends the others.
  static void finalise() {
    int ended = 0;
    if (owner() != ::getpid() || worlds() != 0 || MPI_Finalized(&ended) != MPI_SUCCESS || ended != 0) return;
    first_to_exit(true, [](MPI_Request& all_here) {
      for (int there = 0; MPI_Test(&all_here, &there, MPI_STATUS_IGNORE) == MPI_SUCCESS && there == 0;)
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    });
    MPI_Finalize();
  }
};

}  // namespace meshtensor::comm

// SPDX-License-Identifier: Apache-2.0
// Steps of replicas on simulated hosts (SimGrid's SMPI): the real program, with its real messages. Devices sleep in
// simulated time. It prints the simulated time of a step beside that of mt::predict, and what rank 0 received by the
// count of its MPI calls beside the constants of the plan. bench/simulated_steps.sh runs it.
#undef exit  // smpicxx defines it, and CLI11 has a member of this name
#include <mpi.h>

#include "../../tests/mpi/counted.hpp"
#include "../regime_steps.hpp"

/// SimGrid's, declared here so that the file compiles without its headers.
extern "C" void sg_actor_sleep_for(double seconds);

namespace {

struct simulated_clock {
  static constexpr double shortest = 0;

  static double now() { return MPI_Wtime(); }
  static void sleep(double seconds) { sg_actor_sleep_for(seconds); }
};

regime_steps::counted_messages received() {
  std::int64_t messages = 0;
  for (auto const& [function, times] : counted::calls_made)
    if (function == "irecv") messages += times;
  return {messages, counted::all_received()};
}

}  // namespace

/// SMPI's own does not progress collectives.
extern "C" int MPI_Testany(int n, MPI_Request* requests, int* index, int* complete, MPI_Status* status) {
  *index = MPI_UNDEFINED, *complete = 1;
  for (int i = 0; i < n; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    int const failed = PMPI_Test(&requests[i], complete, status);
    if (failed != MPI_SUCCESS) return failed;
    if (*complete != 0) {
      *index = i;
      return MPI_SUCCESS;
    }
  }
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int const status =
      regime_steps::run<simulated_clock>(argc, argv, [] { return meshtensor::job(MPI_COMM_WORLD); }, received);
  MPI_Finalize();
  return status;
}

// SPDX-License-Identifier: Apache-2.0
// Makes the job of a guest: on the communicator of its caller, or on threads if the program is built without MPI.
#pragma once

#if MESHTENSOR_WITH_MPI
#  include "meshtensor/comm/mpi/before_finalize.hpp"
#endif
#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/job/job.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

inline void require_mpi() {
#if MESHTENSOR_WITH_MPI
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) throw error("R25", "MPI was finalised, and all guests with it: call `destroy` after the last step");
#endif
}
/// The job of a guest. `DestroyAll` destroys all guests when MPI ends.
template <void (*DestroyAll)() noexcept>
job job_on([[maybe_unused]] int communicator) {
#if MESHTENSOR_WITH_MPI
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (!initialized) throw error("R25", "MPI has not been initialised: call MPI_Init before a guest is made");
  static bool const registered = (comm::before_finalize<DestroyAll>(), true);
  static_cast<void>(registered);
  return job(MPI_Comm_f2c(communicator));
#else
  return job::as_threads();
#endif
}

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"

// SPDX-License-Identifier: Apache-2.0
// Makes the runner of a job, with MPI ranks if a launcher started this process and with threads otherwise.
// why: programs that link the compiled part read neither this header nor the headers that it includes.
#pragma once

#include <memory>

#include "meshtensor/job/job.hpp"
#include "meshtensor/job/launch.hpp"
#include "meshtensor/job/local_runners.hpp"

#if MESHTENSOR_WITH_MPI
#  include "meshtensor/job/mpi_runner.hpp"
#endif

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

template <bool WithMpi>
std::unique_ptr<job_runner> started_runner() {
  int const started = launched_processes();
  if (int const tasks = tasks_around(); tasks > 1)
    throw error("R18", {"this process runs alone inside of a Slurm job of ", tasks,
                        " tasks: start it with srun; if it is meant to be alone, with SLURM_NTASKS=1"});
#if MESHTENSOR_WITH_MPI
  if (started > 0) {
    auto ranks = std::make_unique<mpi_runner>();
    if (started > 1 && ranks->size() == 1) {
      std::string const library = comm::library_name();
      ranks.reset();  // before the exception, because its unwinding would abort the job
      throw error("R18", {"a launcher started this process as one of ", started, ", but ", library,
                          ", which it is linked with, sees it alone: start it with that library's own mpirun, or with "
                          "srun --mpi=pmix"});
    }
    return ranks;
  }
#else
  if (started > 1)
    throw error("R09", {"a launcher started ", started,
                        " processes, but this program was built without MPI: link meshtensor::mpi (without CMake: "
                        "mpicxx -DMESHTENSOR_WITH_MPI=1), or start it alone"});
#endif
  return std::make_unique<thread_runner>();
}
#if MESHTENSOR_WITH_MPI
template <class>
std::unique_ptr<job_runner> runner_of_ranks(MPI_Comm ranks) {
  return std::make_unique<mpi_runner>(ranks);
}
#endif
template <class>
std::unique_ptr<job_runner> runner_of_threads() {
  return std::make_unique<thread_runner>();
}
template <class>
std::unique_ptr<job_runner> runner_in_lockstep(collective_timing timing) {
  return std::make_unique<lockstep_runner<>>(timing);
}

#if MESHTENSOR_COMPILED
extern template std::unique_ptr<job_runner> started_runner<with_mpi>();
#  if MESHTENSOR_WITH_MPI
extern template std::unique_ptr<job_runner> runner_of_ranks<lazy>(MPI_Comm);
#  endif
extern template std::unique_ptr<job_runner> runner_of_threads<lazy>();
extern template std::unique_ptr<job_runner> runner_in_lockstep<lazy>(collective_timing);
#endif

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"

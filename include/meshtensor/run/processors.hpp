// The processors of a job, as a program gets them: ranks under a launcher, threads of this process otherwise.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "meshtensor/comm/launch.hpp"
#include "meshtensor/run/transport.hpp"

#if MESHTENSOR_WITH_MPI
#  include "meshtensor/run/mpi_job.hpp"
#endif

namespace meshtensor {

class processors {
 public:
  /// MPI ranks if a launcher started this process, else threads, as many as the mesh of an executable asks for.
  ///
  /// errors  R09 a launcher started several processes, but the program was built without MPI
  processors(int, char**) {
    int const started = launched_processes();
#if MESHTENSOR_WITH_MPI
    if (started > 0) job_ = std::make_unique<mpi_job>();
#else
    if (started > 1)
      throw error("R09",
                  "a launcher started " + std::to_string(started) +
                      " processes, but this program was built without MPI: link meshtensor::mpi, or start it alone");
#endif
    if (!job_) job_ = std::make_unique<threads_job>();
  }
  explicit processors(std::unique_ptr<job> j) : job_(std::move(j)) {}

  static processors as_threads() { return processors(std::make_unique<threads_job>()); }
  /// All processors of a mesh in turns on the calling thread.
  static processors in_lockstep() { return processors(std::make_unique<lockstep_job>()); }

  job& get() const { return *job_; }
  /// Whether this process speaks for the job: one does.
  bool speaks() const { return job_->speaks(); }

 private:
  std::unique_ptr<job> job_;
};

/// Prints once, whatever the number of processes: results, which are the same for one mesh as threads or as ranks.
template <class... Args>
void print(processors const& p, fmt::format_string<Args...> format, Args&&... args) {
  if (!p.speaks()) return;
  fmt::print(stdout, format, std::forward<Args>(args)...);
  std::fflush(stdout);
}
/// Prints progress once, to standard error: times and whatever else differs from run to run.
template <class... Args>
void progress(processors const& p, fmt::format_string<Args...> format, Args&&... args) {
  if (p.speaks()) fmt::print(stderr, format, std::forward<Args>(args)...);
}

}  // namespace meshtensor

// SPDX-License-Identifier: Apache-2.0
// The job in which a program runs: the MPI ranks that a launcher started, or threads of this process.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "meshtensor/array/array_text.hpp"
#include "meshtensor/base/warning.hpp"
#include "meshtensor/comm/collective_timing.hpp"
#include "meshtensor/job/job_runner.hpp"

#if MESHTENSOR_WITH_MPI
#  include "meshtensor/comm/mpi/library.hpp"
#endif

namespace meshtensor {

namespace detail {

/// Makes MPI ranks if a launcher started this process, and threads otherwise.
template <bool WithMpi>
std::unique_ptr<job_runner> started_runner();
#if MESHTENSOR_WITH_MPI
template <class = lazy>
std::unique_ptr<job_runner> runner_of_ranks(MPI_Comm ranks);
#endif
template <class = lazy>
std::unique_ptr<job_runner> runner_of_threads();
template <class = lazy>
std::unique_ptr<job_runner> runner_in_lockstep(collective_timing timing);

}  // namespace detail

/// The ranks that a program runs on: MPI ranks if a launcher such as mpirun started the program, otherwise threads of
/// one process. A main function makes a job first, because stores and executables are made with it.
///
///     mt::job job(argc, argv);
///     mt::store weights(job);
class job {
 public:
  /// Makes MPI ranks if a launcher started this process. Otherwise it makes threads, as many as the mesh of an
  /// executable asks for.
  ///
  /// errors  R09 a launcher started several processes, but the program was built without MPI; R18 this process runs
  /// alone although several were meant
  job(int, char**) : job_(detail::started_runner<with_mpi>()) {}
#if MESHTENSOR_WITH_MPI
  /// Runs on the ranks of the program's own communicator. They are arranged row-major along a mesh's axes.
  explicit job(MPI_Comm ranks) : job_(detail::runner_of_ranks(ranks)) {}
#endif
  explicit job(std::unique_ptr<job_runner> j) : job_(std::move(j)) {}

  /// Runs all ranks of a mesh as threads of this process, even under a launcher.
  static job as_threads() { return job(detail::runner_of_threads()); }
  /// Runs all ranks of a mesh in lockstep, node by node, on the calling thread. `timing` says when collectives read and
  /// write.
  template <class = lazy>
  static job in_lockstep(collective_timing timing = collective_timing::at_once) {
    return job(detail::runner_in_lockstep(timing));
  }

  job_runner& get() const { return *job_; }
  /// The number of processes that run this program. It is 1 with threads or in lockstep, because one process then holds
  /// all ranks of a mesh.
  int processes() const { return std::max(1, job_->size()); }
  /// Whether this process prints for the job. Exactly one process does.
  bool is_root() const { return job_->is_root(); }

 private:
  std::unique_ptr<job_runner> job_;
};

/// Warns once for the whole job about something legal but suspicious.
inline void warn(job_runner const& j, std::string const& sentence) {
  if (j.is_root() && on_warning()) on_warning()(sentence);
}

namespace detail {
/// Writes to standard output. A failure is only one warning, because a program should not end when it cannot print.
inline void put_out(job_runner const& j, std::string const& text) {
  static std::atomic<bool> told = false;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  std::string const why = std::strerror(errno);
  if (!told.exchange(true))
    warn(j, "R17: standard output cannot be written, " + why + ": results are lost; the program continues");
}
}  // namespace detail

/// Prints results once for the whole job, to standard output. Results do not depend on whether ranks are threads or
/// processes.
template <class... Args>
void print(job const& p, fmt::format_string<Args...> format, Args&&... args) {
  if (p.is_root()) detail::put_out(p.get(), fmt::format(format, std::forward<Args>(args)...));
}
/// Prints progress once for the whole job, to standard error: for example times, which differ from run to run.
template <class... Args>
void progress(job const& p, fmt::format_string<Args...> format, Args&&... args) {
  if (p.is_root()) std::fputs(fmt::format(format, std::forward<Args>(args)...).c_str(), stderr);
}

}  // namespace meshtensor

/// Arrays are printed like other values: `mt::print(job, "{}\n", images)`.
template <class A>
requires meshtensor::any_array_like<A>
struct fmt::formatter<A> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(A const& a, Context& context) const {
    meshtensor::any_array<typename A::element> const& base = a;
    return fmt::formatter<std::string_view>::format(meshtensor::text_of(base), context);
  }
};

#if !MESHTENSOR_COMPILED
#  include "meshtensor/job/started_runner.hpp"
#endif

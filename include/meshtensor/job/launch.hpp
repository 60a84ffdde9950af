// SPDX-License-Identifier: Apache-2.0
// Detects whether a launcher started this process, and with how many others, to decide between threads and MPI.
#pragma once

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "meshtensor/base/diagnostic.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

namespace detail {
inline int count_in_environment(char const* variable) {
  char const* const value = std::getenv(variable);
  if (value == nullptr) return 0;
  std::string_view const text = value;
  int n = 0;
  auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
  return problem == std::errc() && end == text.data() + text.size() && n > 0 ? n : 0;
}
}  // namespace detail

/// The number of processes that the launcher started, including this one, or 0 without a launcher. Reads the
/// environment variables of Open MPI's mpirun, of launchers with a process manager interface (MPICH, Intel MPI), of
/// MVAPICH and of srun. The size of a Slurm allocation does not count, because a shell inside an allocation has started
/// nothing yet.
inline int launched_processes() {
  for (char const* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (int const n = detail::count_in_environment(variable); n > 0) return n;
  return 0;
}
/// If this process runs in the shell of a Slurm job without a launcher, the number of that job's tasks. Otherwise 0.
inline int tasks_around() { return launched_processes() > 0 ? 0 : detail::count_in_environment("SLURM_NTASKS"); }

namespace detail {
/// Whether an environment variable is not set or has the word of the default, and not the other word. errors R29
inline bool is_default(char const* variable, std::string_view default_word, std::string_view other) {
  char const* const given = std::getenv(variable);
  if (given == nullptr || *given == '\0' || given == default_word) return true;
  if (given == other) return false;
  throw error("R29", {variable, " is '", given, "', but takes ", default_word, " or ", other});
}
}  // namespace detail

/// Whether a separate thread progresses a rank's messages while the rank computes. Otherwise the rank polls between
/// kernels. MESHTENSOR_PROGRESS is `thread`, the default, or `polls`. errors R29 it is another word
inline bool progress_by_thread() { return detail::is_default("MESHTENSOR_PROGRESS", "thread", "polls"); }

/// Whether ranks split the cores of a machine among themselves if the launcher left them the same ones. MESHTENSOR_PIN
/// is `yes`, the default, or `no`. errors R29 it is another word
inline bool keeps_to_own_cores() { return detail::is_default("MESHTENSOR_PIN", "yes", "no"); }

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

// SPDX-License-Identifier: Apache-2.0
// Frame of a main function: makes the job, runs the program, and ends all processes on an error.
#pragma once

#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "meshtensor/job/job.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

namespace detail {
/// Prints an error as one line, once where all processes meet the same: other processes wait, so that the one that
/// prints for the job has time to end them. Those that were told of a failure elsewhere wait longer, for the rank that
/// failed. In a job of several the line names the rank.
inline void complain(job const& job, char const* sentence, bool is_of_another = false) {
  if (is_of_another) std::this_thread::sleep_for(std::chrono::seconds(1));
  if (!job.is_root()) std::this_thread::sleep_for(std::chrono::milliseconds(500));
  int const size = job.get().size();
  std::string const who = size < 2 ? "" : "rank " + std::to_string(job.get().held(size)[0]) + ": ";
  std::fflush(stdout);
  std::fprintf(stderr, "%s%s\n", who.c_str(), sentence);
  std::fflush(stderr);
}
}  // namespace detail

/// Runs a program as a job, of ranks under a launcher, else of threads: `return mt::run_main(argc, argv, [&](auto
/// const& job) {…});`. The exit code is what the program returns, if anything. An exception becomes one line on
/// standard error and exit code 1; under MPI the whole job ends, so that no rank waits for ever.
template <class Program>
int run_main(int argc, char** argv, Program&& program) {
  try {
    meshtensor::job const job(argc, argv);
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<Program, meshtensor::job const&>>)
        return std::forward<Program>(program)(job), 0;
      else return std::forward<Program>(program)(job);
    } catch (error const& e) {
      detail::complain(job, e.what(), job.get().size() > 1 && e.code() == "R21" && e.rank() >= 0);
      job.get().end(1);
    } catch (std::exception const& e) {
      detail::complain(job, e.what());
      job.get().end(1);
    } catch (...) {
      detail::complain(job, unknown_exception);
      job.get().end(1);
    }
  } catch (std::exception const& e) { std::fprintf(stderr, "%s\n", e.what()); }
  return 1;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

// SPDX-License-Identifier: Apache-2.0
// The frame of a main function: the processors of a job, and how an error ends all of them.
#pragma once

#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "meshtensor/job/job.hpp"

namespace meshtensor {

namespace detail {
/// One line, said once: what all processes have met, the one that speaks says; what only another has met, that one
/// says, when the first has had time to. Of several, each says which it is.
inline void complain(job const& job, char const* sentence) {
  if (!job.speaks()) std::this_thread::sleep_for(std::chrono::milliseconds(500));
  int const size = job.get().size();
  std::string const who = size < 2 ? "" : "rank " + std::to_string(job.get().held(size)[0]) + ": ";
  std::fflush(stdout);
  std::fprintf(stderr, "%s%s\n", who.c_str(), sentence);
  std::fflush(stderr);
}
}  // namespace detail

/// Runs a program on its processors, ranks under a launcher, else threads: `return mt::run_main(argc, argv, [&](auto
/// const& job) {…});`. What the program returns, if anything, is the exit code. What it throws is one line on standard
/// error and exit code 1; under MPI the whole job ends, so that nothing waits for ever.
template <class Program>
int run_main(int argc, char** argv, Program&& program) {
  try {
    meshtensor::job const job(argc, argv);
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<Program, meshtensor::job const&>>)
        return std::forward<Program>(program)(job), 0;
      else return std::forward<Program>(program)(job);
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

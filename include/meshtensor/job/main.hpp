// SPDX-License-Identifier: Apache-2.0
// Frame of a main function, which makes the job, runs the program, and ends all processes after an error.
#pragma once

#include <chrono>
#include <concepts>
#include <exception>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

#include "meshtensor/job/command_line.hpp"
#include "meshtensor/job/job.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

namespace detail {
/// Prints an error as one line, and only once if all processes meet the same error. For this purpose the root prints at
/// once, and the other processes wait, so that the root has time to end them. Processes that were told of a failure
/// elsewhere wait longer, because the rank that failed should print. In a job of several processes the line names the
/// rank.
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

/// Runs a program as a job, with ranks under a launcher and with threads otherwise: `return mt::run_main([&](mt::job
/// const& job) {…});`. The exit code is the program's return value, if it has one. An exception becomes one line on
/// standard error and exit code 1. Under MPI the whole job then ends, so that no rank waits for ever.
template <class Program>
requires std::invocable<Program, job const&>
int run_main(Program&& program) {
  try {
    meshtensor::job const job(0, nullptr);
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

/// The same for a program whose command line has the options of the library, such as --mesh, --profile and --help:
/// `return mt::run_main(argc, argv, [](mt::job const& job) {…});`. A program that takes arguments of its own gets them
/// as a second argument: `[](mt::job const& job, mt::program_arguments const& words) {…}`. These are the arguments that
/// are no option of the library, and all arguments after `--`. --help shows them as `usage` says. If the program takes
/// none, an unknown argument ends it with exit code 2.
template <class Program>
int run_main(int argc, char** argv, Program&& program, std::string_view usage = "") {
  constexpr bool takes_arguments = !std::invocable<Program, job const&>;
  detail::command_line const line = detail::read_command_line(argc, argv, usage, takes_arguments);
  if (line.code >= 0)
    return run_main([&](job const& job) {
      if (line.code == 0) print(job, "{}", line.text);
      else progress(job, "{}", line.text);
      return line.code;
    });
  if constexpr (takes_arguments)
    return run_main([&](job const& job) { return std::forward<Program>(program)(job, line.own); });
  else return run_main(std::forward<Program>(program));
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

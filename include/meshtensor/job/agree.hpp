// SPDX-License-Identifier: Apache-2.0
// Lets the processes of a job agree on facts that each measures for itself, such as a clock, the load of a machine or a
// full disk.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/job/on_all_ranks.hpp"

namespace meshtensor {

/// Returns the greatest of all processes' numbers on every process, for example `if (greatest(seconds) > limit)
/// stop();`. The call is collective, so all processes must make it. In a job of one process it returns its operand.
class agreement {
 public:
  /// Constructs it from any object whose `get()` returns the job.
  template <class P>
  requires requires(P const& p) {
    { p.get() } -> std::same_as<job_runner&>;
  }
  explicit agreement(P const& p) : agreement(p.get()) {}
  explicit agreement(job_runner& j) : greatest_(j, collective::all_reduce, f64, 1, "an agreement") {}

  double operator()(double mine) {
    double greatest = mine;
    greatest_(&mine, &greatest);
    return greatest;
  }

 private:
  on_all_ranks greatest_;
};

/// Gathers one number from each process, in the order of ranks, on every process.
class numbers_of_all {
 public:
  explicit numbers_of_all(job_runner& j)
      : count_(static_cast<std::size_t>(std::max(1, j.size()))),
        ask_(j, collective::all_gather, i64, 1, "an agreement") {}

  std::vector<std::uint64_t> operator()(std::uint64_t mine) {
    std::vector<std::uint64_t> all(count_, mine);
    ask_(&mine, all.data());
    return all;
  }

 private:
  std::size_t count_;
  on_all_ranks ask_;
};

/// Calls a function on every process, so that it either succeeds on all of them or all throw. Of the ranks that failed,
/// the one with the highest number rethrows its exception. The others throw the same sentence with that rank,
/// `e.rank()`.
///
///     all_or_throw all(job);
///     all([&] { file.write(part); });
class all_or_throw {
 public:
  explicit all_or_throw(job_runner& j)
      : failed_(j), said_(j, collective::all_reduce, u8, static_cast<std::int64_t>(room), "an agreement") {}

  void operator()(function_ref<void()> f) {
    std::exception_ptr mine;
    std::string said(room, '\0');
    try {
      f();
    } catch (std::exception const& e) {
      mine = std::current_exception();
      std::string_view const what(e.what());
      what.copy(said.data(), room);
    } catch (...) {
      mine = std::current_exception();
      std::string_view(unknown_exception).copy(said.data(), room);
    }
    if (said_.is_alone()) {
      if (mine) std::rethrow_exception(mine);
      return;
    }
    int const failed = static_cast<int>(failed_(mine ? said_.rank() + 1 : 0)) - 1;
    if (failed < 0) return;
    bool const here = failed == said_.rank();
    if (!here) said.assign(room, '\0');
    std::string told = said;
    said_(said.data(), told.data());
    if (here) std::rethrow_exception(mine);
    rethrow(told.substr(0, told.find('\0')), failed);
  }

 private:
  static constexpr std::size_t room = 1024;
  static constexpr std::string_view prefix = "meshtensor ";

  [[noreturn]] static void rethrow(std::string const& said, int rank) {
    if (said.starts_with(prefix) && said.size() > prefix.size() + 5)
      throw error(said.substr(prefix.size(), 3), said.substr(prefix.size() + 5), rank);
    throw error("R21", "rank " + std::to_string(rank) + " failed: " + said, rank);
  }

  agreement failed_;
  on_all_ranks said_;
};

}  // namespace meshtensor

// SPDX-License-Identifier: Apache-2.0
// Reports the failure of a rank: it ends all processes of the job, or tells the other ranks.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "meshtensor/comm/mpi/communicators.hpp"
#include "meshtensor/comm/mpi/failure_notice.hpp"
#include "meshtensor/comm/mpi/options.hpp"
#include "meshtensor/comm/mpi/progress.hpp"
#include "meshtensor/comm/mpi/watch.hpp"

namespace meshtensor::comm {

class mpi_failures {
 public:
  mpi_failures(mpi_options const& options, mpi_communicators const& over, mpi_pending_collectives& pending,
               mpi_watch& watch, mpi_progress& progress)
      : options_(options), over_(over), pending_(pending), watch_(watch), progress_(progress) {}
  mpi_failures(mpi_failures const&) = delete;
  mpi_failures& operator=(mpi_failures const&) = delete;

  /// Whether errors are thrown on all ranks.
  bool is_told() const { return options_.tells || options_.throws; }
  /// Tells all other ranks why this one stops taking part, if errors are thrown on all ranks.
  void tell(std::string_view why) {
    if (!is_told() || has_failed()) return;
    progress_.end();  // one thread at a time calls MPI
    if (over_.notices() != MPI_COMM_NULL)
      told_ = std::make_unique<failure_notice>(over_.notices(), pending_.requests().phase(), why);
  }
  /// Stores the last error of this rank. The others are told of it if an exception leaves the world.
  void remember(std::string_view what) { last_ = what; }
  /// Whether this rank has told the others of a failure, or was told. Memory that messages use must then not be freed.
  bool has_failed() const { return told_ != nullptr || pending_.requests().failed() >= 0; }
  /// The last error of this rank, empty if there is none.
  std::string const& last() const { return last_; }
  /// Whether this rank has told the others of its own failure. Then `before` gives the error of all later calls.
  bool has_told() const { return told_ != nullptr; }
  error before() const {
    std::string_view const why = told_->text();
    if (why.starts_with(mpi_requests::of_another)) return mpi_requests::failure(over_.rank(), why);
    return error("R21", {"this rank failed before, so its job is over: ", why});
  }
  /// Keeps the memory of messages that may stay pending.
  void leave() {
    pending_.requests().leave();
    static_cast<void>(told_.release());
  }

  /// Prints the rank that failed and the reason on stderr, and ends all processes of the job with exit code 1.
  [[noreturn]] void abort(std::string_view message, char const* code = "R21") {
    std::fprintf(stderr, "meshtensor %s: rank %d failed: %.*s\n", code, over_.rank(), static_cast<int>(message.size()),
                 message.data());
    std::fflush(stderr);
    watch_.neighbours().speaks_first();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // some launchers lose what was printed just before
    end_all();
  }
  /// Fails because the process of another rank has ended. This rank or one of its neighbours reports it. errors R21
  [[noreturn]] void lose(int rank, std::unique_lock<std::mutex>& held) {
    std::string const sentence = watch_.neighbours().sentence(rank);
    held.unlock();
    if (options_.throws) {
      tell(std::string(mpi_requests::of_another) + sentence);
      throw error("R21", sentence, rank);
    }
    if (watch_.neighbours().speaks_first()) std::fprintf(stderr, "meshtensor R21: %s\n", sentence.c_str());
    std::fflush(stderr);
    end_all();
  }

 private:
  [[noreturn]] void end_all() {
    progress_.end();  // one thread at a time calls MPI
    MPI_Abort(over_.world() == MPI_COMM_NULL ? MPI_COMM_WORLD : over_.world(), 1);
    std::abort();
  }

  mpi_options const& options_;
  mpi_communicators const& over_;
  mpi_pending_collectives& pending_;
  mpi_watch& watch_;
  mpi_progress& progress_;
  std::unique_ptr<failure_notice> told_;  // the notice of its own failure that this rank has sent
  std::string last_;
};

}  // namespace meshtensor::comm

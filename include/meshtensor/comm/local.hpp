// SPDX-License-Identifier: Apache-2.0
// The local transport: all ranks are threads of one process, which publish their buffers and read those of their peers
// directly. It is the default for embedding, runs hundreds of ranks on one machine, and suits debuggers and thread
// sanitizers.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>

#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/comm/local/local_member.hpp"
#include "meshtensor/comm/local/thread_pool.hpp"

namespace meshtensor {

/// A communicator of `ranks` threads in this process. A rank that fails poisons the world: every start, test and wait
/// then throws R21, and after the throw no peer reads this rank's buffers any more. A wait beyond its limit fails all
/// ranks with R22 and the names of the missing ranks. A failed world stays failed.
class local_world {
 public:
  explicit local_world(int ranks, wait_limits const& limits = {}) : world_(ranks), threads_(ranks) {
    for (int rank = 0; rank < ranks; ++rank) members_.push_back(std::make_unique<local_member>(world_, rank, limits));
  }

  int size() const { return world_.size(); }
  local_member& member(int rank) { return *members_[static_cast<std::size_t>(rank)]; }

  /// Reports that rank `rank` has failed. Only the first failure counts.
  void poison(int rank, std::string_view reason);

  /// Calls program(member) for all ranks concurrently and waits for all of them. Rank 0 runs on the calling thread, the
  /// others on threads that live as long as the world. Throws the exception of the rank that failed first.
  ///
  /// errors  R27 the world is running already
  template <class Program>
  void run(Program&& program) {
    comm::only_run const now(running_);
    std::mutex mutex;
    std::exception_ptr first, any;
    auto const failed = [&](int rank, std::string_view reason) {
      poison(rank, reason);
      std::lock_guard const lock(mutex);
      if (world_.failed_rank() == rank && !first) first = std::current_exception();
      if (!any) any = std::current_exception();
    };
    auto const body = [&](int rank) {
      try {
        program(member(rank));
      } catch (std::exception const& e) { failed(rank, e.what()); } catch (...) {
        failed(rank, unknown_exception);
      }
      world_.at(rank).gone.store(true);
      for (int r = 0; r < size(); ++r) world_.at(r).post();
    };
    for (int rank = 0; rank < size(); ++rank) world_.at(rank).gone.store(false);
    try {
      threads_.gather();
    } catch (std::system_error const& e) {
      failed(threads_.size(), e.what());
      throw;
    }
    threads_.run(body);
    if (first || any) std::rethrow_exception(first ? first : any);
  }

 private:
  comm::world_state world_;
  dynamic_array<std::unique_ptr<local_member>> members_;
  std::atomic<bool> running_ = false;
  comm::thread_pool threads_;
};

}  // namespace meshtensor

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

inline void local_world::poison(int rank, std::string_view reason) {
  world_.poison("R21", rank, "rank " + std::to_string(rank) + " failed: " + std::string(reason));
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

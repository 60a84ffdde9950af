// SPDX-License-Identifier: Apache-2.0
// A thread that drives pending MPI collectives by polling while the program computes. It is needed because many MPI
// libraries move messages only inside calls, and because this library reduces data after a message has arrived.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>

#include "meshtensor/comm/mpi/pending_collectives.hpp"

namespace meshtensor::comm {

/// A caller that touches the pending collectives holds `lock()`, so that at most one thread calls MPI at a time
/// (MPI_THREAD_SERIALIZED).
class mpi_progress {
 public:
  explicit mpi_progress(mpi_pending_collectives& pending) : pending_(pending) {}
  mpi_progress(mpi_progress const&) = delete;
  mpi_progress& operator=(mpi_progress const&) = delete;
  ~mpi_progress() { end(); }
  /// Ends the thread.
  void end() {
    if (!thread_.joinable()) return;
    {
      std::lock_guard const held(mutex_);
      ended_ = true;
    }
    begun_.notify_one();
    thread_.join();
  }

  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
  /// Starts the thread, unless it runs already. If the system cannot start one, there is none.
  void begin_thread() {
    if (thread_.joinable() || ended_) return;
    try {
      thread_ = std::thread([this] { run(); });
    } catch (std::system_error const&) {}
  }
  /// Sets a function that the thread calls before it calls MPI. For example, it chooses the GPU of the thread, because
  /// MPI may look for the GPU that the calling thread uses.
  void enter_by(std::function<void()> enter) {
    std::lock_guard const held(mutex_);
    enter_ = std::move(enter);
  }
  bool has_thread() const { return thread_.joinable(); }
  /// Notifies the thread of a new collective. The caller holds the lock.
  void begun() {
    if (thread_.joinable()) begun_.notify_one();
  }
  /// Throws the thread's exception, if it has one. The caller holds the lock.
  void raise() const {
    if (failed_) std::rethrow_exception(failed_);
  }

 private:
  // The pause between polls. It is short enough for the buffers of sockets, and long enough to leave the processor to
  // the program.
  static constexpr std::chrono::microseconds pause{200};

  void run() {
    std::unique_lock held(mutex_);
    while (!ended_ && !failed_) {
      begun_.wait(held, [this] { return ended_ || pending_.requests().are_open(); });
      try {
        if (enter_ && !ended_) enter_();
        while (!ended_ && pending_.requests().are_open() && pending_.step(false));
      } catch (...) { failed_ = std::current_exception(); }
      if (!pending_.requests().are_open()) continue;
      held.unlock();
      std::this_thread::sleep_for(pause);
      held.lock();
    }
  }

  mpi_pending_collectives& pending_;
  std::mutex mutex_;
  std::condition_variable begun_;
  std::exception_ptr failed_;
  std::function<void()> enter_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace meshtensor::comm

// SPDX-License-Identifier: Apache-2.0
// A pool of persistent threads: they sleep until there is work for all of them, run it, and sleep again.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/base/function_ref.hpp"

namespace meshtensor::comm {

/// The pool has one place for each rank. The caller of `run` has the first place, and each thread has one of the
/// others. `gather` starts the threads. They sleep between runs and end with the pool.
class thread_pool {
 public:
  explicit thread_pool(int places) : places_(places) {}
  thread_pool(thread_pool const&) = delete;
  thread_pool& operator=(thread_pool const&) = delete;
  ~thread_pool() {
    work_ = nullptr;
    wake();
    for (std::thread& t : threads_) t.join();
  }

  /// The number of threads that exist, including the calling one.
  int size() const { return 1 + static_cast<int>(threads_.size()); }
  /// Starts the missing threads. errors std::system_error if one cannot start, and then fewer threads exist
  void gather() {
    threads_.reserve(static_cast<std::size_t>(places_));
    while (size() < places_) threads_.emplace_back([this, place = size(), seen = round_.load()] { stay(place, seen); });
  }
  /// Calls work(place) for all places concurrently and returns when all calls have returned. They must not throw. Only
  /// one thread at a time may call this, after `gather`.
  void run(function_ref<void(int)> work) {
    work_ = &work;
    busy_.store(places_ - 1);
    wake();
    work(0);
    look([&] { return busy_.load() == 0; });
    for (int left = busy_.load(); left != 0; left = busy_.load()) busy_.wait(left);
  }

 private:
  // Yields a few times, which is quicker than sleep if the condition holds soon.
  static void look(function_ref<bool()> ready) {
    for (int i = 0; i < 20 && !ready(); ++i) std::this_thread::yield();
  }
  void wake() {
    if (threads_.empty()) return;
    round_.fetch_add(1);
    round_.notify_all();
  }
  void stay(int place, std::uint32_t seen) {
    for (;;) {
      look([&] { return round_.load() != seen; });
      round_.wait(seen);
      seen = round_.load();
      if (work_ == nullptr) return;
      (*work_)(place);
      if (busy_.fetch_sub(1) == 1) busy_.notify_one();
    }
  }

  int const places_;
  dynamic_array<std::thread> threads_;
  function_ref<void(int)> const* work_ = nullptr;
  std::atomic<std::uint32_t> round_ = 0;
  std::atomic<int> busy_ = 0;  // the places that are not done, without the caller's
};

/// Marks a run as in progress for as long as the object lives. errors R27 another run is in progress
class only_run {
 public:
  explicit only_run(std::atomic<bool>& running) : running_(running) {
    if (running_.exchange(true))
      throw error("R27", "two threads run one job at the same time, or a job runs itself: give each a job of its own");
  }
  ~only_run() { running_.store(false); }
  only_run(only_run const&) = delete;

 private:
  std::atomic<bool>& running_;
};

}  // namespace meshtensor::comm

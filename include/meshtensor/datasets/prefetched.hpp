// SPDX-License-Identifier: Apache-2.0
// Prepares the data of the next steps on threads while a step runs. The number of threads does not change the data.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace meshtensor::datasets {

/// Values numbered from `first` on, which threads make before they are needed. For example, with
/// `prefetched<pair_batch> batches([&](auto number, auto& to) { all.read(number, to); });`, a program calls
/// `batches.next()` once a step. The result of `make` may depend only on the number, because several threads call it at
/// once. At most `ahead` values wait, in memory that is reused.
template <class T>
class prefetched {
 public:
  /// Makes the value of a number in the memory of an earlier one.
  using maker = std::function<void(std::int64_t number, T& value)>;

  /// If `threads` is 0, or if the system starts no thread, `next` makes each value itself.
  explicit prefetched(maker make, std::int64_t first = 0, int threads = 2, int ahead = 4)
      : make_(std::move(make)),
        next_(first),
        given_(first - 1),
        slots_(threads < 1 ? 1 : static_cast<std::size_t>(std::max(ahead, 1)) + 1) {
    try {
      for (int i = 0; i < threads; ++i) workers_.emplace_back([this] { work(); });
    } catch (std::system_error const&) {}  // the system starts no more, so fewer threads work, or `next` does
  }
  prefetched(prefetched const&) = delete;
  ~prefetched() {
    {
      std::lock_guard const lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    for (auto& w : workers_) w.join();
  }

  /// The next value. It is valid until the next call. If the maker of a value throws, the call for this value throws
  /// the exception, and the call after it returns the value after it.
  T const& next() {
    if (workers_.empty()) {
      make_(++given_, slots_[0].value);
      return slots_[0].value;
    }
    std::unique_lock lock(mutex_);
    ++given_;  // the previous value may be overwritten from now on
    changed_.notify_all();
    slot& mine = slot_of(given_);
    changed_.wait(lock, [&] { return mine.holds == given_; });
    if (mine.problem) std::rethrow_exception(std::exchange(mine.problem, nullptr));
    return mine.value;
  }
  /// The number of the value that `next` returned last.
  std::int64_t number() const { return given_; }

 private:
  struct slot {
    T value;
    std::int64_t holds = -1;  // the number of its value
    std::exception_ptr problem;
  };
  slot& slot_of(std::int64_t number) { return slots_[static_cast<std::size_t>(number) % slots_.size()]; }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      std::int64_t const number = next_++;
      changed_.wait(lock, [&] { return over_ || number < given_ + static_cast<std::int64_t>(slots_.size()); });
      if (over_) return;
      slot& mine = slot_of(number);
      lock.unlock();
      try {
        make_(number, mine.value);
      } catch (...) { mine.problem = std::current_exception(); }
      lock.lock();
      mine.holds = number;
      changed_.notify_all();
    }
  }

  maker make_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t next_, given_;  // the next number to make, and the number that the caller has
  bool over_ = false;
  std::vector<slot> slots_;
  std::vector<std::thread> workers_;
};

}  // namespace meshtensor::datasets

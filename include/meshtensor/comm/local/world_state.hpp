// SPDX-License-Identifier: Apache-2.0
// State shared by the ranks of one process: which ranks sleep, read a peer's buffer or have left, and the first
// failure.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/comm/local/rendezvous.hpp"

namespace meshtensor::comm {

/// The state of one rank that other ranks access.
class rank_state {
 public:
  std::atomic<bool> reading = false;  // a peer's buffer
  std::atomic<bool> gone = false;     // its thread has returned

  /// Wakes this rank, because a stage became complete or the world failed.
  void post() {
    {
      std::lock_guard const lock(mutex_);
      ++events_;
    }
    changed_.notify_one();
  }
  std::uint64_t events() const { return events_.load(); }
  /// Waits until there are more events than `seen`. False if the deadline comes first. It yields a few times before it
  /// sleeps, because that is quicker if events come soon. Its name is not `sleep`, because simulated MPI libraries have
  /// a macro of that name.
  bool doze(std::uint64_t seen, std::chrono::steady_clock::time_point deadline) {
    for (int i = 0; i < yields; ++i) {
      if (events_.load() != seen) return true;
      std::this_thread::yield();
    }
    std::unique_lock lock(mutex_);
    auto const more = [&] { return events_.load() != seen; };
    if (deadline == std::chrono::steady_clock::time_point::max()) return changed_.wait(lock, more), true;
    return changed_.wait_until(lock, deadline, more);
  }

 private:
  static constexpr int yields = 20;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<std::uint64_t> events_ = 0;
};

class world_state {
 public:
  explicit world_state(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {}

  int size() const { return static_cast<int>(ranks_.size()); }
  rank_state& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  bool failed() const { return failed_.load(); }

  /// Records a failure, wakes all ranks, and returns when no rank reads a peer's buffer any more. True if this failure
  /// is the first.
  bool poison(std::string_view code, int rank, std::string const& sentence) {
    bool first = false;
    {
      std::lock_guard const lock(mutex_);
      if (failed_rank_ == -1) {
        first = true;
        code_ = code, sentence_ = sentence, failed_rank_ = rank;
      }
    }
    failed_.store(true);
    for (rank_state& s : ranks_) s.post();
    settle();
    return first;
  }
  int failed_rank() {
    std::lock_guard const lock(mutex_);
    return failed_rank_;
  }
  /// Throws the first failure. The caller's buffers may then be destroyed, because no rank reads them.
  [[noreturn]] void raise() {
    settle();
    std::lock_guard const lock(mutex_);
    throw error(code_, sentence_);
  }
  [[noreturn]] void fail(std::string_view code, int rank, std::string const& sentence) {
    poison(code, rank, sentence);
    raise();
  }

  /// Runs `read` while the peers' buffers are guaranteed to live. This function stores `reading` before it loads
  /// `failed`. `poison` stores `failed` before it loads `reading`. All of this happens in one total order. Therefore
  /// either the failing rank waits for this read, or the read never begins.
  template <class Read>
  void while_reading(int rank, Read&& read) {
    at(rank).reading.store(true);
    bool const dead = failed_.load();
    if (!dead) read();
    at(rank).reading.store(false);
    if (dead) raise();
  }

  /// The rank_group of these ranks. errors R23 not a group of this world that has `rank` at its index
  rank_group& group_of(group const& g, int rank) {
    require_valid(g, rank, size());
    std::vector<int> members(g.members, g.members + g.count);
    std::lock_guard const lock(mutex_);
    for (auto const& c : groups_)
      if (c->members == members) return *c;
    return *groups_.emplace_back(std::make_unique<rank_group>(std::move(members)));
  }

 private:
  void settle() {
    for (rank_state& s : ranks_)
      while (s.reading.load()) std::this_thread::yield();
  }

  std::vector<rank_state> ranks_;
  std::mutex mutex_;  // guards the members below
  dynamic_array<std::unique_ptr<rank_group>> groups_;
  std::string code_, sentence_;
  int failed_rank_ = -1;
  std::atomic<bool> failed_ = false;
};

}  // namespace meshtensor::comm

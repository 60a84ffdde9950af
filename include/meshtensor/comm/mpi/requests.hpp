// SPDX-License-Identifier: Apache-2.0
// The MPI requests of all pending collectives in one list, so that one call waits for any of them, or for the notice of
// a failure elsewhere.
#pragma once

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/comm/mpi/failure_notice.hpp"
#include "meshtensor/comm/mpi/pending_collective.hpp"

namespace meshtensor::comm {

class mpi_requests {
 public:
  /// Whether any message is pending.
  bool are_open() const { return requests_.size() > (listens_ ? 1u : 0u); }

  /// Starts to listen for notices, so that a rank that waits here is told of failures elsewhere: see mpi_world::tell.
  void listen(MPI_Comm notices) {
    listens_ = true;
    requests_.push_back(MPI_REQUEST_NULL);
    owners_.push_back(-1);
    notice_ = std::make_unique<failure_text>();
    must(MPI_Irecv(notice_.get(), sizeof *notice_, MPI_BYTE, MPI_ANY_SOURCE, 0, notices, requests_.data()),
         "MPI_Irecv");
  }
  /// Ends listening, unless a rank has reported a failure. No other message may be pending.
  void end_listening() {
    if (!listens_ || failed_ >= 0) return;
    MPI_Cancel(requests_.data());
    MPI_Wait(requests_.data(), MPI_STATUS_IGNORE);
    requests_.clear(), owners_.clear(), listens_ = false;
  }
  /// Leaks the memory of the notice, because messages may still write to it.
  void leave() { static_cast<void>(notice_.release()); }
  /// The rank that reported a failure, or -1 if none has.
  int failed() const { return failed_; }
  /// The text of its report.
  std::string_view notice() const { return failed_ < 0 ? std::string_view() : notice_->text; }
  /// The number of begins and ends of this rank's work with the others.
  std::int64_t phase() const { return phase_; }
  void next_phase() { ++phase_; }
  /// From now on this rank is not behind any other.
  void catch_up() { has_caught_up_ = true; }
  /// Whether a rank has failed in a phase to which this rank has not come yet. Until then, every wait of this rank
  /// succeeds, because the messages were sent before.
  bool is_behind() const { return failed_ >= 0 && !has_caught_up_ && phase_ < notice_->phase; }

  /// Makes room, so that `post` does not move requests while an MPI call writes to one.
  void reserve(std::size_t messages) {
    requests_.reserve(messages + 1);
    owners_.reserve(messages + 1);
  }
  /// A request for one more message of `f`.
  MPI_Request* post(mpi_pending& f) {
    ++f.open;
    owners_.push_back(f.slot);
    return &requests_.emplace_back(MPI_REQUEST_NULL);
  }
  /// Waits for one request or, unless it may `block`, looks for one that is complete. Gives the slot of its collective,
  /// or -1 if none is complete.
  int complete_one(bool block) {
    int index = MPI_UNDEFINED, complete = 1;
    int const n = static_cast<int>(requests_.size());
    MPI_Status status;
    raise();
    if (block && std::all_of(requests_.begin() + (listens_ ? 1 : 0), requests_.end(),
                             [](MPI_Request r) { return r == MPI_REQUEST_NULL; }))
      throw error("R25", "a wait has no message to wait for, as an earlier call failed");
    if (block) must(MPI_Waitany(n, requests_.data(), &index, &status), "MPI_Waitany");
    else must(MPI_Testany(n, requests_.data(), &index, &complete, &status), "MPI_Testany");
    if (index == MPI_UNDEFINED) return -1;
    auto const i = static_cast<std::size_t>(index);
    if (owners_[i] < 0) {
      failed_ = status.MPI_SOURCE, raise();
      return -1;
    }
    int const slot = owners_[i];
    requests_[i] = requests_.back(), requests_.pop_back();
    owners_[i] = owners_.back(), owners_.pop_back();
    return slot;
  }
  /// Throws the failure that another rank reported, its own or a third rank's, once this rank is not behind it.
  /// errors  R21
  void raise() const {
    if (failed_ >= 0 && !is_behind()) throw failure(failed_, notice());
  }
  /// The failure that a notice reports, of its sender or of another rank.
  static error failure(int sender, std::string_view told) {
    if (!told.starts_with(of_another))
      return error("R21", "rank " + std::to_string(sender) + " failed: " + std::string(told), sender);
    told.remove_prefix(of_another.size());
    int rank = sender;
    std::from_chars(told.data() + std::string_view("rank ").size(), told.data() + told.size(), rank);
    return error("R21", std::string(told), rank);
  }
  /// The prefix of a notice about another rank than its sender.
  static constexpr std::string_view of_another = "meshtensor R21: ";

 private:
  std::vector<MPI_Request> requests_;
  std::vector<int> owners_;              // the slot of each request's collective, or -1 for the notice
  bool listens_ = false;                 // whether the first request is for the notice
  std::atomic<int> failed_ = -1;         // written by the thread that drives progress, read by all
  std::atomic<std::int64_t> phase_ = 0;  // of this rank's own thread
  std::atomic<bool> has_caught_up_ = false;
  std::unique_ptr<failure_text> notice_;
};

}  // namespace meshtensor::comm

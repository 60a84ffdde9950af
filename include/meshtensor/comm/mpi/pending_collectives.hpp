// SPDX-License-Identifier: Apache-2.0
// Drives every pending collective of a rank from its start to its end, as its MPI requests complete.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>

#include "meshtensor/comm/mpi/first_call.hpp"
#include "meshtensor/comm/mpi/requests.hpp"
#include "meshtensor/comm/mpi/second_call.hpp"

namespace meshtensor::comm {

class mpi_pending_collectives {
  using stage = mpi_pending::stage;

 public:
  mpi_pending& operator[](int slot) { return pending_[static_cast<std::size_t>(slot)]; }
  mpi_requests& requests() { return requests_; }
  mpi_requests const& requests() const { return requests_; }

  /// If `slot`'s collective is complete, frees the slot and sets it to -1.
  void release(int& slot) {
    if (slot == -1 || (*this)[slot].at != stage::done) return;
    (*this)[slot].at = stage::free;
    slot = -1;
  }

  /// Starts one round of the barrier `f`: sends an empty message to one rank, and receives one from another.
  int token(mpi_pending const& f, MPI_Comm over, int tag, int to, int from) {
    mpi_pending& mine = claim(f, 2);
    must(MPI_Irecv(nullptr, 0, MPI_BYTE, from, tag, over, requests_.post(mine)), "MPI_Irecv");
    must(MPI_Isend(nullptr, 0, MPI_BYTE, to, tag, over, requests_.post(mine)), "MPI_Isend");
    return mine.slot;
  }

  /// Starts the collective `f`.
  int begin(mpi_pending const& f) {
    mpi_pending& mine = claim(f, f.form.first == mpi_function::steps         ? 2
                                 : f.form.first == mpi_function::isend_irecv ? 2 * static_cast<std::size_t>(f.count)
                                                                             : 1);
    start_first_call(requests_, mine);
    if (mine.open == 0 && mine.at != stage::done) advance(mine);
    return mine.slot;
  }

  /// Completes one MPI request of any collective and does the work that follows. False if no request is complete.
  bool step(bool block) {
    int const slot = requests_.complete_one(block);
    if (slot < 0) return false;
    if (mpi_pending& f = (*this)[slot]; --f.open == 0) advance(f);
    return true;
  }

 private:
  // Puts `f`, which has at most `messages` messages, in a free slot, and makes room for the messages of all slots.
  mpi_pending& claim(mpi_pending const& f, std::size_t messages) {
    std::size_t i = 0;
    while (i < pending_.size() && pending_[i].at != stage::free) ++i;
    if (i == pending_.size()) pending_.emplace_back();
    most_messages_ = std::max(most_messages_, messages);
    requests_.reserve(pending_.size() * most_messages_);
    pending_[i] = f;
    pending_[i].at = stage::first, pending_[i].slot = static_cast<int>(i);
    return pending_[i];
  }

  // The work of a collective when all its MPI requests are complete.
  void advance(mpi_pending& f) {
    if (f.form.first == mpi_function::steps) {
      do finish_round(f), start_round(requests_, f);
      while (f.open == 0 && f.at != stage::done);
      return;
    }
    if (f.at == stage::second || f.form.first == mpi_function::none) {
      f.at = stage::done;
      return;
    }
    finish_first_call(f);
    f.at = f.form.second == mpi_function::none ? stage::done : stage::reduced;
    if (f.at == stage::reduced) start_second_calls(*f.over);
  }

  // Starts second calls in the order in which their collectives were started. It does so even if another one is ready
  // first, because all members must use the same order.
  void start_second_calls(group_communicators const& over) {
    for (;;) {
      std::size_t next = pending_.size();
      for (std::size_t i = 0; i < pending_.size(); ++i) {
        mpi_pending const& f = pending_[i];
        if (f.over != &over || f.form.second == mpi_function::none) continue;
        if (f.at != stage::first && f.at != stage::reduced) continue;
        if (next == pending_.size() || f.sequence < pending_[next].sequence) next = i;
      }
      if (next == pending_.size() || pending_[next].at == stage::first) return;
      mpi_pending& f = pending_[next];
      start_second_call(requests_, f);
      f.at = stage::second;
    }
  }

  std::deque<mpi_pending> pending_;
  mpi_requests requests_;
  std::size_t most_messages_ = 1;
};

}  // namespace meshtensor::comm

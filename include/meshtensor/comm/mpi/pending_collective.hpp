// SPDX-License-Identifier: Apache-2.0
// Makes the MPI calls of every collective, from its start to its end: packs, sends, reduces, unpacks.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/comm/mpi/library.hpp"
#include "meshtensor/comm/mpi_algorithm.hpp"
#include "meshtensor/comm/reference.hpp"

namespace meshtensor::comm {

/// The communicators of a group; `second` is for second calls, which have an order of their own.
struct mpi_circle {
  std::vector<int> members;
  MPI_Comm first = MPI_COMM_NULL, second = MPI_COMM_NULL;
  std::int64_t next = 0;  // sequence number of the next collective
};

/// One collective: `step` reduces and copies between its MPI calls as messages complete.
struct mpi_pending {
  enum class stage : std::uint8_t { free, first, reduced, second, done };
  stage at = stage::free;
  int open = 0;  // MPI requests that are not complete
  int index = 0, count = 0;
  std::int64_t sequence = 0;
  mpi_circle* over = nullptr;    // null: not a collective, but
  char const* what = nullptr;    // this: `a barrier`
  int const* members = nullptr;  // the participating ranks, `count` of them
  collective_call call = {};
  mpi_algorithm form = {};
  void const* in = nullptr;
  std::byte* out = nullptr;
  std::byte *counts = nullptr, *packed = nullptr, *received = nullptr;  // in the workspace
};

class mpi_pending_collectives {
  using stage = mpi_pending::stage;

 public:
  mpi_pending& operator[](int slot) { return pending_[static_cast<std::size_t>(slot)]; }

  /// Whether any message is pending.
  bool under_way() const { return requests_.size() > (listens_ ? 1u : 0u); }

  /// From now on, ranks that wait here are told of failures elsewhere: see `tell`.
  void listen(MPI_Comm notices) {
    listens_ = true;
    requests_.push_back(MPI_REQUEST_NULL);
    owners_.push_back(-1);
    notice_ = std::make_unique<text_of_notice>();
    must(MPI_Irecv(notice_->data(), static_cast<int>(notice_->size()), MPI_CHAR, MPI_ANY_SOURCE, 0, notices,
                   requests_.data()),
         "MPI_Irecv");
  }
  /// Ends listening, if no message is pending.
  void end_listening() {
    if (!listens_ || failed_ >= 0) return;
    MPI_Cancel(requests_.data());
    MPI_Wait(requests_.data(), MPI_STATUS_IGNORE);
    requests_.clear(), owners_.clear(), listens_ = false;
  }
  /// Keeps the memory that messages may still write to.
  void leave() { static_cast<void>(notice_.release()); }
  /// The rank that reported a failure; -1: none.
  int failed() const { return failed_; }
  /// The text of its report.
  std::string_view notice() const { return failed_ < 0 ? std::string_view() : notice_->data(); }

  /// If `slot`'s collective is complete, frees the slot and sets it to -1.
  void release(int& slot) {
    if (slot == -1 || (*this)[slot].at != stage::done) return;
    (*this)[slot].at = stage::free;
    slot = -1;
  }

  /// Starts one round of the barrier `f`: sends an empty message to one rank, receives one from another.
  int token(mpi_pending const& f, MPI_Comm over, int tag, int to, int from) {
    int const slot = claim(2);
    (*this)[slot] = f;
    (*this)[slot].at = stage::first;
    must(MPI_Irecv(nullptr, 0, MPI_BYTE, from, tag, over, post(slot)), "MPI_Irecv");
    must(MPI_Isend(nullptr, 0, MPI_BYTE, to, tag, over, post(slot)), "MPI_Isend");
    return slot;
  }

  /// Starts the collective `f`.
  int begin(mpi_pending const& f) {
    bool const one = f.form.first != mpi_function::isend_irecv;
    int const slot = claim(one ? 1 : static_cast<std::size_t>(f.count));
    (*this)[slot] = f;
    (*this)[slot].at = stage::first;
    send(slot);
    return slot;
  }

  /// Completes one MPI request of any collective and does the work that follows; false if none is complete.
  bool step(bool block) {
    int index = MPI_UNDEFINED, complete = 1;
    int const n = static_cast<int>(requests_.size());
    MPI_Status status;
    raise();
    if (block && std::all_of(requests_.begin() + (listens_ ? 1 : 0), requests_.end(),
                             [](MPI_Request r) { return r == MPI_REQUEST_NULL; }))
      throw error("R25", "a wait has no message to wait for, as an earlier call failed");
    if (block) must(MPI_Waitany(n, requests_.data(), &index, &status), "MPI_Waitany");
    else must(MPI_Testany(n, requests_.data(), &index, &complete, &status), "MPI_Testany");
    if (index == MPI_UNDEFINED) return false;
    auto const i = static_cast<std::size_t>(index);
    if (owners_[i] < 0) failed_ = status.MPI_SOURCE, raise();
    mpi_pending& f = (*this)[owners_[i]];
    requests_[i] = requests_.back(), requests_.pop_back();
    owners_[i] = owners_.back(), owners_.pop_back();
    if (--f.open == 0) advance(f);
    return true;
  }

  /// Throws the failure that another rank reported, its own or a third rank's. errors R21
  void raise() const {
    if (failed_ < 0) return;
    std::string_view told = notice();
    if (!told.starts_with(of_another))
      throw error("R21", "rank " + std::to_string(failed_) + " failed: " + notice_->data(), failed_);
    told.remove_prefix(of_another.size());
    int rank = failed_;
    std::from_chars(told.data() + std::string_view("rank ").size(), told.data() + told.size(), rank);
    throw error("R21", std::string(told), rank);
  }
  /// The prefix of a notice about another rank than its sender.
  static constexpr std::string_view of_another = "meshtensor R21: ";

 private:
  // A free slot, with room for the messages of all slots, at most `messages` each.
  int claim(std::size_t messages) {
    std::size_t i = 0;
    while (i < pending_.size() && pending_[i].at != stage::free) ++i;
    if (i == pending_.size()) pending_.emplace_back();
    most_messages_ = std::max(most_messages_, messages);
    requests_.reserve(pending_.size() * most_messages_ + 1);
    owners_.reserve(pending_.size() * most_messages_ + 1);
    return static_cast<int>(i);
  }

  MPI_Request* post(int slot) {
    ++(*this)[slot].open;
    owners_.push_back(slot);
    return &requests_.emplace_back(MPI_REQUEST_NULL);
  }

  void send(int slot) {
    mpi_pending& f = (*this)[slot];
    using enum mpi_function;
    collective_call const& call = f.call;
    MPI_Datatype const type = moved(call.type);
    MPI_Comm const over = f.over->first;
    std::int64_t const n = elements_of(call), block = bytes_of(call);
    int const all = static_cast<int>(n), each = static_cast<int>(n / f.count);
    void const* from = f.in;
    if (f.form.packs) {
      for (int j = 0; j < f.count; ++j)
        copy(f.packed + block / f.count * j, whole(block / f.count), f.in, taken(call, f.count, j));
      from = f.packed;
    }
    void* const to = f.form.received_bytes != 0 ? f.received : f.out;
    switch (f.form.first) {
      case iallgather: return must(MPI_Iallgather(from, all, type, to, all, type, over, post(slot)), "MPI_Iallgather");
      case ialltoall: return must(MPI_Ialltoall(from, each, type, to, each, type, over, post(slot)), "MPI_Ialltoall");
      case ialltoallv: {
        int* const sent = reinterpret_cast<int*>(f.counts);  // counts, displacements, and those of what arrives
        int const mine = static_cast<int>(part_of(n, f.count, f.index).count);
        for (int j = 0; j < f.count; ++j) {
          interval const part = part_of(n, f.count, j);
          sent[j] = static_cast<int>(part.count), sent[f.count + j] = static_cast<int>(part.begin);
          sent[2 * f.count + j] = mine, sent[3 * f.count + j] = j * mine;
        }
        return must(MPI_Ialltoallv(from, sent, sent + f.count, type, to, sent + 2 * f.count, sent + 3 * f.count, type,
                                   over, post(slot)),
                    "MPI_Ialltoallv");
      }
      case iallreduce:
        return must(MPI_Iallreduce(f.in == f.out ? MPI_IN_PLACE : f.in, f.out, all, reduced(call.type),
                                   operation(call.op), over, post(slot)),
                    "MPI_Iallreduce");
      case ireduce_scatter_block:
        return must(
            MPI_Ireduce_scatter_block(from, f.out, each, reduced(call.type), operation(call.op), over, post(slot)),
            "MPI_Ireduce_scatter_block");
      case ibcast:
        if (f.index == call.root) copy(f.out, whole(block), f.in, whole(block));
        return must(MPI_Ibcast(f.out, all, type, call.root, over, post(slot)), "MPI_Ibcast");
      default: break;
    }
    ++f.open;  // a permutation: complete only after all its messages have been started
    int const source = call.source[f.index];
    if (source == -1 || source == f.index) deliver(call, f.count, f.index, [&](int) { return f.in; }, f.out);
    else must(MPI_Irecv(f.out, all, type, source, 0, over, post(slot)), "MPI_Irecv");
    for (int j = 0; j < f.count; ++j)
      if (call.source[j] == f.index && j != f.index)
        must(MPI_Isend(f.in, all, type, j, 0, over, post(slot)), "MPI_Isend");
    if (--f.open == 0) advance(f);
  }

  // The work of a collective when all its MPI requests are complete.
  void advance(mpi_pending& f) {
    if (f.at == stage::second || f.form.first == mpi_function::none) {
      f.at = stage::done;
      return;
    }
    std::int64_t const block = bytes_of(f.call);
    auto const size = static_cast<std::int64_t>(bytes_of(f.call.type));
    if (f.form.folds) {
      bool const gathered = f.form.first == mpi_function::iallgather;
      interval const part = gathered ? interval{0, block / size} : part_of(block / size, f.count, f.index);
      bool const scatters = f.call.kind == collective::reduce_scatter;
      fold(f.call.op, f.call.type, f.out + (scatters ? 0 : part.begin * size), part.count, f.count,
           [&](int j) -> void const* { return f.received + j * part.count * size; });
    } else if (f.form.unpacks) {
      std::int64_t const piece = result_bytes_of(f.call, f.count) / f.count;
      for (int j = 0; j < f.count; ++j) copy(f.out, placed(f.call, f.count, j), f.received + piece * j, whole(piece));
    }
    f.at = f.form.second == mpi_function::none ? stage::done : stage::reduced;
    if (f.at == stage::reduced) collect(*f.over);
  }

  // Starts second calls in the order in which the collectives were started, whichever is ready first: all members must
  // use the same order.
  void collect(mpi_circle const& over) {
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
      MPI_Datatype const type = moved(f.call.type);
      MPI_Request* const pending = post(static_cast<int>(next));
      if (int const* const counts = reinterpret_cast<int const*>(f.counts); f.form.counts_bytes != 0)
        must(MPI_Iallgatherv(MPI_IN_PLACE, 0, type, f.out, counts, counts + f.count, type, over.second, pending),
             "MPI_Iallgatherv");
      else
        must(MPI_Iallgather(MPI_IN_PLACE, 0, type, f.out, static_cast<int>(elements_of(f.call) / f.count), type,
                            over.second, pending),
             "MPI_Iallgather");
      f.at = stage::second;
    }
  }

  std::deque<mpi_pending> pending_;
  std::vector<MPI_Request> requests_;
  std::vector<int> owners_;  // the collective of each request; -1: the notice
  std::size_t most_messages_ = 1;
  bool listens_ = false;          // the first request is for the notice
  std::atomic<int> failed_ = -1;  // written by the thread that drives, read by all
  using text_of_notice = std::array<char, 1024>;
  std::unique_ptr<text_of_notice> notice_;
};

}  // namespace meshtensor::comm

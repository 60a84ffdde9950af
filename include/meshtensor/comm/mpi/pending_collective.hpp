// SPDX-License-Identifier: Apache-2.0
// Makes the MPI calls of every collective, from its start to its end: packs, sends, reduces, unpacks.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
  int slot = 0, round = 0;  // of an all_reduce in steps
  int open = 0;             // MPI requests that are not complete
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
    std::size_t const messages = f.form.first == mpi_function::steps         ? 2
                                 : f.form.first == mpi_function::isend_irecv ? 2 * static_cast<std::size_t>(f.count)
                                                                             : 1;
    int const slot = claim(messages);
    (*this)[slot] = f;
    (*this)[slot].at = stage::first, (*this)[slot].slot = slot;
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
    if (f.form.first == steps) {
      to_traveling(call.type, f.packed, f.in, n);
      return step_on(slot);
    }
    void const* from = f.in;
    if (f.form.packs && call.kind != collective::move) {
      std::byte* to = f.packed;
      for (int j = 0; j < f.count; ++j) {
        strided_slice const piece = taken(call, f.count, f.index, j);
        copy(to, whole(piece.bytes), f.in, piece);
        to += piece.bytes;
      }
      from = f.packed;
    }
    int* const counts = reinterpret_cast<int*>(f.counts);
    if (f.form.counts_bytes != 0 && call.kind != collective::move) count_parts(f, counts);
    void* const to = f.form.received_bytes != 0 ? f.received : f.out;
    switch (f.form.first) {
      case iallgather: return must(MPI_Iallgather(from, all, type, to, all, type, over, post(slot)), "MPI_Iallgather");
      case iallgatherv:
        return must(
            MPI_Iallgatherv(from, all, type, to, counts + 2 * f.count, counts + 3 * f.count, type, over, post(slot)),
            "MPI_Iallgatherv");
      case ialltoall: return must(MPI_Ialltoall(from, each, type, to, each, type, over, post(slot)), "MPI_Ialltoall");
      case ialltoallv:
        return must(MPI_Ialltoallv(from, counts, counts + f.count, type, to, counts + 2 * f.count, counts + 3 * f.count,
                                   type, over, post(slot)),
                    "MPI_Ialltoallv");
      case iallreduce:
        return must(MPI_Iallreduce(f.in == f.out ? MPI_IN_PLACE : f.in, f.out, all, reduced(call.type),
                                   operation(call.op), over, post(slot)),
                    "MPI_Iallreduce");
      case ireduce_scatter_block:
        return must(
            MPI_Ireduce_scatter_block(from, f.out, each, reduced(call.type), operation(call.op), over, post(slot)),
            "MPI_Ireduce_scatter_block");
      case ireduce_scatter:
        return must(MPI_Ireduce_scatter(from, f.out, counts, reduced(call.type), operation(call.op), over, post(slot)),
                    "MPI_Ireduce_scatter");
      case ibcast:
        if (f.index == call.root) copy(f.out, whole(block), f.in, whole(block));
        return must(MPI_Ibcast(f.out, all, type, call.root, over, post(slot)), "MPI_Ibcast");
      default: break;
    }
    if (call.kind == collective::move) move(slot);
    else send_parts(slot, static_cast<std::byte const*>(from), static_cast<std::byte*>(to));
  }

  // Starts the next round of an all_reduce in steps. Rounds of several ones may overtake each other between two ranks,
  // so each has a tag.
  void step_on(int slot) {
    mpi_pending& f = (*this)[slot];
    reduction_steps const steps(f.count);
    std::int64_t const n = elements_of(f.call);
    MPI_Datatype const type = moved(traveling(f.call.type));
    auto const tag = [&](int round) { return static_cast<int>(f.sequence % 512) * 64 + round + 1; };
    auto const receive = [&](int from, int round) {
      must(MPI_Irecv(f.received, static_cast<int>(n), type, from, tag(round), f.over->first, post(slot)), "MPI_Irecv");
    };
    auto const give = [&](int to, int round) {
      must(MPI_Isend(f.packed, static_cast<int>(n), type, to, tag(round), f.over->first, post(slot)), "MPI_Isend");
    };
    int const last = steps.exchanges() + 1, round = f.round++;
    ++f.open;  // complete only after all its messages have been started
    if (f.index >= steps.doubling) {
      if (round == 0) give(f.index - steps.doubling, 0), receive(f.index - steps.doubling, last);
      else f.at = stage::done;
      if (f.at == stage::done) from_traveling(f.call.type, f.out, f.received, n);
    } else if (round == 0 && f.index < steps.rest) {
      receive(f.index + steps.doubling, 0);
    } else if (round > 0 && round < last) {
      int const peer = f.index ^ 1 << (round - 1);
      receive(peer, round), give(peer, round);
    } else if (round >= last) {
      if (round == last && f.index < steps.rest) give(f.index + steps.doubling, last);
      else f.at = stage::done;
      if (f.at == stage::done) from_traveling(f.call.type, f.out, f.packed, n);
    }
    if (--f.open == 0 && f.at != stage::done) finish_round(f);
  }
  // Takes in what the round that is complete has brought, and goes on.
  void finish_round(mpi_pending& f) {
    reduction_steps const steps(f.count);
    int const done = f.round - 1;
    if (f.index < steps.doubling && done <= steps.exchanges()) {
      bool const is_first = done == 0 || (f.index & 1 << (done - 1)) == 0;
      if (done != 0 || f.index < steps.rest)
        combine(f.call.op, f.call.type, f.packed, is_first ? f.packed : f.received, is_first ? f.received : f.packed,
                elements_of(f.call));
    }
    step_on(f.slot);
  }

  // The messages of an ialltoallv, one by one, as `counts` says.
  void send_parts(int slot, std::byte const* from, std::byte* to) {
    mpi_pending& f = (*this)[slot];
    int const* const counts = reinterpret_cast<int const*>(f.counts);
    auto const size = static_cast<std::int64_t>(bytes_of(f.call.type));
    auto const at = [&](int table, int j) { return counts[table * f.count + j]; };
    MPI_Datatype const type = moved(f.call.type);
    ++f.open;  // complete only after all its messages have been started
    for (int j = 0; j < f.count; ++j)
      if (j != f.index && at(2, j) != 0)
        must(MPI_Irecv(to + at(3, j) * size, at(2, j), type, j, 0, f.over->first, post(slot)), "MPI_Irecv");
    for (int j = 0; j < f.count; ++j)
      if (j != f.index && at(0, j) != 0)
        must(MPI_Isend(from + at(1, j) * size, at(0, j), type, j, 0, f.over->first, post(slot)), "MPI_Isend");
    if (int const n = at(0, f.index); n != 0)
      std::memcpy(to + at(3, f.index) * size, from + at(1, f.index) * size, static_cast<std::size_t>(n * size));
    if (--f.open == 0) advance(f);
  }

  // Messages go to those members only that need something. Members that get the same box get the same message.
  void move(int slot) {
    mpi_pending& f = (*this)[slot];
    movement const& m = *f.call.moves;
    std::int64_t const size = static_cast<std::int64_t>(bytes_of(f.call.type));
    MPI_Datatype const type = moved(f.call.type);
    ++f.open;  // complete only after all its messages have been started
    std::byte* next = f.received;
    for (int j = 0; j < f.count; ++j) {
      std::int64_t const n = j == f.index ? 0 : moved_elements(m, f.call.at, j, f.index);
      if (n != 0) must(MPI_Irecv(next, static_cast<int>(n), type, j, 0, f.over->first, post(slot)), "MPI_Irecv");
      next += n * size;
    }
    next = f.packed;
    auto* const packed = reinterpret_cast<std::byte**>(f.counts);  // the message to each member
    for (int j = 0; j < f.count; ++j) {
      std::int64_t const n = j == f.index ? 0 : moved_elements(m, f.call.at, f.index, j);
      packed[j] = nullptr;
      if (n == 0) continue;
      std::byte*& message = packed[m.alike[static_cast<std::size_t>(j)]];
      if (message == nullptr) {
        message = next;
        each_piece(m, f.call.at, f.index, j, [&](moved_piece const& p) {
          pack_piece(m, p, size, next, f.index, f.in);
          next += p.elements(m.dims) * size;
        });
      }
      must(MPI_Isend(message, static_cast<int>(n), type, j, 0, f.over->first, post(slot)), "MPI_Isend");
    }
    fill_uncovered(m, f.call.at, f.index, size, f.call.around, f.out);
    each_piece(m, f.call.at, f.index, f.index,
               [&](moved_piece const& p) { copy_piece(m, p, size, f.index, f.out, f.index, f.in); });
    if (--f.open == 0) advance(f);
  }

  // The elements that go to each member, and where they begin; then those that come from each, and where they go.
  static void count_parts(mpi_pending const& f, int* counts) {
    auto const size = static_cast<std::int64_t>(bytes_of(f.call.type));
    std::int64_t const n = elements_of(f.call);
    std::int64_t sent = 0, received = 0;
    for (int j = 0; j < f.count; ++j) {
      bool const to_root = f.call.kind == collective::reduce && f.form.second == mpi_function::none;
      bool const reduces_parts = f.form.second != mpi_function::none;
      std::int64_t const to = to_root         ? (j == f.call.root ? n : 0)
                              : reduces_parts ? part_of(n, f.count, j).count
                                              : taken(f.call, f.count, f.index, j).bytes / size;
      std::int64_t const from = to_root              ? (f.index == f.call.root ? n : 0)
                                : reduces_parts      ? part_of(n, f.count, f.index).count
                                : joins(f.call.kind) ? placed(f.call, f.count, j, f.index).bytes / size
                                                     : taken(f.call, f.count, j, f.index).bytes / size;
      counts[j] = static_cast<int>(to), counts[f.count + j] = static_cast<int>(sent);
      counts[2 * f.count + j] = static_cast<int>(from), counts[3 * f.count + j] = static_cast<int>(received);
      sent += to, received += from;
    }
  }

  // The work of a collective when all its MPI requests are complete.
  void advance(mpi_pending& f) {
    if (f.form.first == mpi_function::steps) return finish_round(f);
    if (f.at == stage::second || f.form.first == mpi_function::none) {
      f.at = stage::done;
      return;
    }
    std::int64_t const block = bytes_of(f.call);
    auto const size = static_cast<std::int64_t>(bytes_of(f.call.type));
    if (f.form.folds) {
      bool const is_empty = f.call.kind == collective::reduce && f.index != f.call.root;
      interval const part = f.form.second != mpi_function::none ? part_of(block / size, f.count, f.index)
                            : is_empty ? interval{0, 0}
                                       : interval{0, result_bytes_of(f.call, f.count, f.index) / size};
      fold(f.call.op, f.call.type, f.out + part.begin * size, part.count, f.count,
           [&](int j) -> void const* { return f.received + j * part.count * size; });
    } else if (f.call.kind == collective::move) {
      std::byte const* from = f.received;
      for (int j = 0; j < f.count; ++j)
        if (j != f.index)
          each_piece(*f.call.moves, f.call.at, j, f.index, [&](moved_piece const& p) {
            unpack_piece(*f.call.moves, p, size, f.index, f.out, from);
            from += p.elements(f.call.dims) * size;
          });
    } else if (f.form.unpacks) {
      std::byte const* from = f.received;
      for (int j = 0; j < f.count; ++j) {
        strided_slice const piece = placed(f.call, f.count, j, f.index);
        copy(f.out, piece, from, whole(piece.bytes));
        from += piece.bytes;
      }
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
      int const* const counts = reinterpret_cast<int const*>(f.counts);
      if (f.form.second == mpi_function::igatherv) {
        bool const is_root = f.index == f.call.root;
        std::byte* const mine = f.out + counts[f.count + f.index] * static_cast<std::int64_t>(bytes_of(f.call.type));
        must(MPI_Igatherv(is_root ? MPI_IN_PLACE : mine, counts[f.index], type, f.out, counts, counts + f.count, type,
                          f.call.root, over.second, pending),
             "MPI_Igatherv");
      } else if (f.form.counts_bytes != 0)
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

// SPDX-License-Identifier: Apache-2.0
// Detects stalled waits: ranks that wait long tell each other about their waits, so that each can name the missing
// ranks.
#pragma once

#include <algorithm>
#include <chrono>
#include <list>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "meshtensor/base/memory.hpp"
#include "meshtensor/base/process.hpp"
#include "meshtensor/comm/mpi/neighbours.hpp"
#include "meshtensor/comm/mpi/pending_collective.hpp"
#include "meshtensor/comm/wait_limits.hpp"

namespace meshtensor::comm {

/// The waits of one rank, one after the other. A short wait only yields. A long one sleeps between polls, answers ranks
/// that ask who is waiting, and asks them itself before a limit is reached. A rank that computes, is stopped or is cut
/// off does not answer. Therefore the others know that they wait for it.
class mpi_watch {
  using duration = std::chrono::milliseconds;

 public:
  explicit mpi_watch(wait_limits limits) : limits_(std::move(limits)) {
    answers_ = std::min<duration>(std::chrono::seconds(1), limits_.first() / 4);
  }
  mpi_watch(mpi_watch const&) = delete;
  mpi_watch& operator=(mpi_watch const&) = delete;

  /// Whether a wait can end only by a message, because it has no limit and no neighbour whose end would be seen.
  bool is_endless() const { return limits_.endless() && neighbours_.empty(); }

  /// Waits for the request of a collective that all ranks start with. errors R22
  void arrive(MPI_Request& request) {
    begin();
    for (int there = 0;;) {
      must(MPI_Test(&request, &there, MPI_STATUS_IGNORE), "MPI_Test");
      if (there != 0) return;
      if (is_short() || limits_.endless()) continue;
      auto const sentence = [](duration d) {
        return std::string(begins_with) + text_of(d) + " for all ranks to begin, which not all have done";
      };
      if (limits_.end.count() != 0 && waited_ >= limits_.end) throw error("R22", sentence(limits_.end));
      if (warns()) limits_.say("R22: " + sentence(limits_.warn) + consequence(limits_));
      std::this_thread::sleep_for(pause);
    }
  }
  /// Exchanges the process ids of all ranks, collectively. Later messages use `talk` and tag 1. If failures end all
  /// processes, the ranks of one machine agree on one that reports.
  void introduce(MPI_Comm talk, bool all_end) {
    talk_ = talk;
    int size = 0;
    must(MPI_Comm_rank(talk, &rank_), "MPI_Comm_rank");
    must(MPI_Comm_size(talk, &size), "MPI_Comm_size");
    processes_.resize(static_cast<std::size_t>(size));
    waits_for_.resize(static_cast<std::size_t>(size));
    process_id const mine = this_process();
    must(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, processes_.data(), sizeof mine, MPI_BYTE, talk), "MPI_Allgather");
    neighbours_.meet(talk, processes_, rank_, all_end);
  }
  mpi_neighbours& neighbours() { return neighbours_; }

  /// Stores the last error of this rank before it leaves the job, so that others that wait for it are told.
  void leaves_after(std::string const& refused) { refused_ = refused.empty() ? "" : ", after: " + refused; }
  /// Starts a wait.
  void begin() { looks_ = 0, asked_ = warned_ = false, waited_ = looked_around_at_ = {}, gone_ = -1; }
  /// Called after each poll without a message. False if the limit is reached or a neighbour has ended.
  bool look(mpi_pending const& f) {
    bool const young = is_short();
    if (talk_ == MPI_COMM_NULL) return true;
    if (is_somebody_gone()) return false;
    if (!young && limits_.endless()) std::this_thread::yield();
    if (young || limits_.endless()) return true;
    listen();
    bool const others_wait = std::any_of(waits_for_.begin(), waits_for_.end(), [](auto& w) { return !w.empty(); });
    bool const at_end = f.what == the_end;
    if (!asked_ && (others_wait || at_end || waited_ + answers_ >= limits_.first())) {
      asked_ = true, asked_at_ = waited_;
      tell(at_end ? what(f) + refused_ : what(f));
    }
    duration last = limits_.end.count() == 0 ? duration::max() : limits_.end;
    if (asked_ && !at_end && somebody_is_at_end(f))
      last = std::min(last, asked_at_ + answers_);  // this wait cannot succeed any more
    if (waited_ >= last) {
      if (is_debugged()) time_.restart();
      else if (is_root(at_end) || waited_ >= last + 3 * answers_) return false;
    }
    if (warns() && is_root(at_end))
      limits_.say("R22: rank " + std::to_string(rank_) + ": " + sentence(f, limits_.warn) + consequence(limits_));
    std::this_thread::sleep_for(pause);
    return true;
  }
  /// Ends a wait that succeeded.
  void end() {
    if (asked_) tell("");
  }
  /// The rank whose process has ended and thereby ended this wait, or -1 if there is none.
  int gone() const { return has_gone_ ? gone_ : -1; }
  /// Whether this rank has waited long enough to ask who else waits.
  bool has_asked() const { return asked_; }

  /// `it waited 60 s for collective 7 of ranks 0, 1: all_reduce sum f32[8] (train.cpp:31); rank 1 did not come to it
  /// (process 4711 on node17, which is stopped by a signal)`
  std::string sentence(mpi_pending const& f, duration limit) const {
    std::vector<int> absent, elsewhere;
    for (int j = 0; j < f.count; ++j) {
      int const r = f.members[j];
      if (r == rank_ || waiting(r) == what(f, j) || (f.what == the_end && waiting(r).starts_with(the_end))) continue;
      (waiting(r).empty() ? absent : elsewhere).push_back(r);
    }
    std::string text = std::string(begins_with) + text_of(limit) + " for " + what(f);
    if (!absent.empty()) return text + "; " + text_of_ranks(absent) + " did not come to it" + about(absent);
    if (!elsewhere.empty())
      text += "; rank " + std::to_string(elsewhere[0]) + " waits for something else, " + waiting(elsewhere[0]);
    if (auto const others = who_does_not_wait(); !others.empty())
      return text + "; " + text_of_ranks(others) + (others.size() == 1 ? " does" : " do") + " not wait" + about(others);
    return elsewhere.empty() ? text + lost : text;
  }
  /// The same sentence, with advice if the other ranks are well but do other things.
  std::string sentence(mpi_pending const& f) const {
    bool const ended = limits_.end.count() != 0 && waited_ + answers_ > limits_.end;
    auto const others = who_does_not_wait();
    bool const are_well = std::all_of(others.begin(), others.end(), [&](int r) {
      return doing(r) == activity::computes || doing(r) == activity::waits;
    });
    std::string const text = sentence(f, ended ? limits_.end : waited_);
    return are_well && f.what != the_end && !text.ends_with(lost) ? text + advice : text;
  }
  /// The beginning of that sentence.
  static constexpr std::string_view begins_with = "it waited ";
  /// The name of a rank's last wait.
  static constexpr char the_end[] = "the end of the job";
  static constexpr char lost[] = "; all have come to it, but their messages have not";
  static constexpr char advice[] = "; all ranks must make the same executables, steps, gets and saves, in one order";
  /// The missing rank if there is exactly one, else -1.
  int missing() const {
    auto const ranks = who_does_not_wait();
    return ranks.size() == 1 ? ranks[0] : -1;
  }

  /// Receives the messages of other ranks about their waits, and forgets messages of this rank that have arrived.
  void listen() {
    if (talk_ == MPI_COMM_NULL) return;
    for (;;) {
      int there = 0;
      MPI_Status status;
      must(MPI_Iprobe(MPI_ANY_SOURCE, tag, talk_, &there, &status), "MPI_Iprobe");
      if (there == 0) break;
      char text[longest + 1] = "";
      must(MPI_Recv(text, longest, MPI_CHAR, status.MPI_SOURCE, tag, talk_, MPI_STATUS_IGNORE), "MPI_Recv");
      waits_for_[static_cast<std::size_t>(status.MPI_SOURCE)] = text;
    }
    told_.remove_if([](message& m) {
      int gone = 0;
      must(MPI_Testall(static_cast<int>(m.parts.size()), m.parts.data(), &gone, MPI_STATUSES_IGNORE), "MPI_Testall");
      return gone != 0;
    });
  }
  /// Receives the last messages. False if a message of this rank is still pending, because some ranks receive no more.
  /// Its memory is then kept, and the caller must keep its communicator.
  bool leave() {
    try {
      listen();
      if (told_.empty()) return true;
    } catch (error const&) {}  // MPI fails, so the messages may be under way for ever
    stays(told_);
    return false;
  }

 private:
  static constexpr int tag = 1, longest = 1000;
  // The pause between polls of a long wait. It is long enough to leave the processor to others, and short enough for
  // the buffer of a socket.
  static constexpr std::chrono::microseconds pause{200};

  struct message {
    std::string text;
    std::vector<MPI_Request> parts;
  };

  // Checks for neighbours that have ended. A message that a neighbour sent before its end may still arrive. Therefore a
  // neighbour counts as gone only if two checks in a row find its end, and the wait is not over by then.
  bool is_somebody_gone() {
    constexpr duration between{50};
    if (waited_ < looked_around_at_ + between) return false;
    looked_around_at_ = waited_;
    int const before = std::exchange(gone_, neighbours_.gone());
    return has_gone_ = gone_ >= 0 && before == gone_;
  }
  // Whether the wait is so short that only polling is due. The first polls follow each other at once, because most
  // messages come within microseconds. On a busy machine, however, each poll may take long, because MPI yields in it.
  // Therefore the time ends this stage, too.
  bool is_short() {
    constexpr int quick = 1000, without_clock = 16;
    constexpr duration brief{20};
    if (looks_ < quick) {
      if (++looks_ == without_clock) time_.restart();
      if (looks_ % 64 == 0) std::this_thread::yield();
      if (looks_ == without_clock || looks_ % without_clock != 0 || time_.look() < brief) return true;
      looks_ = quick;
    }
    waited_ = time_.look();
    if (waited_ >= answers_) return false;
    std::this_thread::yield();
    return true;
  }
  // Whether to warn now. True once in a wait.
  bool warns() {
    if (warned_ || limits_.warn.count() == 0 || waited_ < limits_.warn || !limits_.say) return false;
    return warned_ = true;
  }
  // Whether this rank reports, because it is the first rank that waits. Ranks that wait for the end of the job come
  // last.
  bool is_root(bool at_end) const {
    return std::all_of(waits_for_.begin(), waits_for_.begin() + rank_,
                       [&](auto& w) { return w.empty() || (!at_end && w.starts_with(the_end)); });
  }
  void tell(std::string const& text) {
    message& m = told_.emplace_back();
    m.text = text.substr(0, longest);
    for (int r = 0; r < static_cast<int>(processes_.size()); ++r)
      if (r != rank_)
        must(
            MPI_Isend(m.text.data(), static_cast<int>(m.text.size()), MPI_CHAR, r, tag, talk_, &m.parts.emplace_back()),
            "MPI_Isend");
  }

  bool somebody_is_at_end(mpi_pending const& f) const {
    return std::any_of(f.members, f.members + f.count, [&](int r) { return waiting(r).starts_with(the_end); });
  }
  static std::string what(mpi_pending const& f) { return what(f, f.call); }
  // The same wait as member `j` names it, whose block may have other extents.
  static std::string what(mpi_pending const& f, int j) { return what(f, of_member(f.call, f.count, j)); }
  static std::string what(mpi_pending const& f, collective_call const& call) {
    std::vector<int> members(f.members, f.members + f.count);
    std::sort(members.begin(), members.end());
    if (f.over == nullptr)
      return f.what + (" of " + text_of_ranks(members)) + (call.file == nullptr ? "" : ": " + located(call));
    return "collective " + std::to_string(f.sequence) + " of " + text_of_ranks(members) + ": " + located(call);
  }
  std::string const& waiting(int r) const { return waits_for_[static_cast<std::size_t>(r)]; }
  std::vector<int> who_does_not_wait() const {
    std::vector<int> ranks;
    for (int r = 0; r < static_cast<int>(waits_for_.size()); ++r)
      if (r != rank_ && waiting(r).empty()) ranks.push_back(r);
    return ranks;
  }
  activity doing(int r) const {
    return activity_of(processes_[static_cast<std::size_t>(r)], processes_[static_cast<std::size_t>(rank_)]);
  }
  bool is_debugged() const {
    auto const ranks = who_does_not_wait();
    return std::any_of(ranks.begin(), ranks.end(), [&](int r) { return doing(r) == activity::in_debugger; });
  }
  // The processes of the first three of these ranks, and their activities.
  std::string about(std::vector<int> const& ranks) const {
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, ranks.size()); ++i)
      text += (i == 0 ? " (" : "; ") + (ranks.size() == 1 ? "" : "rank " + std::to_string(ranks[i]) + ": ") +
              processes_[static_cast<std::size_t>(ranks[i])].text() + ", " + text_of(doing(ranks[i]));
    return text + (ranks.size() > 3 ? "; …)" : ")");
  }

  wait_limits limits_;
  mpi_neighbours neighbours_;
  duration answers_;  // the time that others need to answer, after which a wait is long
  MPI_Comm talk_ = MPI_COMM_NULL;
  int rank_ = 0;
  std::vector<process_id> processes_;   // of all ranks
  std::vector<std::string> waits_for_;  // the last wait that each rank told, empty if it is not known to wait
  std::string refused_;                 // the reason that this rank gives when it leaves
  std::list<message> told_;             // messages of this rank that may be pending
  // About this wait:
  int looks_ = 0;
  waiting_time time_;
  duration waited_{}, asked_at_{};
  bool asked_ = false, warned_ = false;
  duration looked_around_at_{};
  int gone_ = -1;  // at the last check
  bool has_gone_ = false;
};

}  // namespace meshtensor::comm

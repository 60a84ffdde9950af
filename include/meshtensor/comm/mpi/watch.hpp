// SPDX-License-Identifier: Apache-2.0
// Detects stalled waits: ranks that wait long tell each other about their waits, so that each can name the missing
// ranks.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "meshtensor/base/process.hpp"
#include "meshtensor/comm/mpi/neighbours.hpp"
#include "meshtensor/comm/mpi/pending_collective.hpp"
#include "meshtensor/comm/mpi/waits_of_ranks.hpp"
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
    waits_.introduce(talk);
    neighbours_.meet(talk, waits_.processes(), waits_.rank(), all_end);
  }
  mpi_neighbours& neighbours() { return neighbours_; }

  /// Stores the last error of this rank before it leaves the job, so that others that wait for it are told.
  void leaves_after(std::string const& refused) { refused_ = refused.empty() ? "" : ", after: " + refused; }
  /// Starts a wait.
  void begin() { looks_ = 0, asked_ = warned_ = false, waited_ = looked_around_at_ = {}, gone_ = -1; }
  /// Called after each poll without a message. False if the limit is reached or a neighbour has ended.
  bool look(mpi_pending const& f) {
    bool const young = is_short();
    if (!waits_.are_told()) return true;
    if (is_somebody_gone()) return false;
    if (!young && limits_.endless()) std::this_thread::yield();
    if (young || limits_.endless()) return true;
    waits_.listen();
    bool const others_wait = waits_.somebody_waits();
    bool const at_end = f.what == the_end;
    if (!asked_ && (others_wait || at_end || waited_ + answers_ >= limits_.first())) {
      asked_ = true, asked_at_ = waited_;
      waits_.tell(at_end ? waits_.what(f) + refused_ : waits_.what(f));
    }
    duration last = limits_.end.count() == 0 ? duration::max() : limits_.end;
    if (asked_ && !at_end && waits_.somebody_is_at_end(f))
      last = std::min(last, asked_at_ + answers_);  // this wait cannot succeed any more
    if (waited_ >= last) {
      if (waits_.is_debugged()) time_.restart();
      else if (waits_.is_root(at_end) || waited_ >= last + 3 * answers_) return false;
    }
    if (warns() && waits_.is_root(at_end))
      limits_.say("R22: rank " + std::to_string(waits_.rank()) + ": " + waits_.sentence(f, limits_.warn) +
                  consequence(limits_));
    std::this_thread::sleep_for(pause);
    return true;
  }
  /// Ends a wait that succeeded.
  void end() {
    if (asked_) waits_.tell("");
  }
  /// The rank whose process has ended and thereby ended this wait, or -1 if there is none.
  int gone() const { return has_gone_ ? gone_ : -1; }
  /// Whether this rank has waited long enough to ask who else waits.
  bool has_asked() const { return asked_; }

  /// The sentence about this wait, with advice if the other ranks are well but do other things.
  std::string sentence(mpi_pending const& f) const {
    bool const ended = limits_.end.count() != 0 && waited_ + answers_ > limits_.end;
    auto const others = waits_.who_does_not_wait();
    bool const are_well = std::all_of(others.begin(), others.end(), [&](int r) {
      return waits_.doing(r) == activity::computes || waits_.doing(r) == activity::waits;
    });
    std::string const text = waits_.sentence(f, ended ? limits_.end : waited_);
    return are_well && f.what != the_end && !text.ends_with(mpi_waits_of_ranks::lost) ? text + advice : text;
  }
  /// The beginning of that sentence.
  static constexpr std::string_view begins_with = mpi_waits_of_ranks::begins_with;
  /// The name of a rank's last wait.
  static constexpr char const* the_end = mpi_waits_of_ranks::the_end;
  static constexpr char advice[] = "; all ranks must make the same executables, steps, gets and saves, in one order";
  /// The missing rank if there is exactly one, else -1.
  int missing() const { return waits_.missing(); }
  /// Receives the last messages. False if a message of this rank is still pending: see mpi_waits_of_ranks::leave.
  bool leave() { return waits_.leave(); }

 private:
  // The pause between polls of a long wait. It is long enough to leave the processor to others, and short enough for
  // the buffer of a socket.
  static constexpr std::chrono::microseconds pause{200};

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

  wait_limits limits_;
  mpi_neighbours neighbours_;
  duration answers_;  // the time that others need to answer, after which a wait is long
  mpi_waits_of_ranks waits_;
  std::string refused_;  // the reason that this rank gives when it leaves
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

// SPDX-License-Identifier: Apache-2.0
// The waits of all ranks, as ranks that wait long tell them to each other, and the sentence that names missing ranks.
#pragma once

#include <algorithm>
#include <chrono>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/base/memory.hpp"
#include "meshtensor/base/process.hpp"
#include "meshtensor/comm/mpi/pending_collective.hpp"
#include "meshtensor/comm/wait_limits.hpp"

namespace meshtensor::comm {

/// The last wait that each rank has told by a message. A rank that has told none is not known to wait.
class mpi_waits_of_ranks {
  using duration = std::chrono::milliseconds;

 public:
  /// Exchanges the process ids of all ranks, collectively. Later messages use `talk` and tag 1.
  void introduce(MPI_Comm talk) {
    talk_ = talk;
    int size = 0;
    must(MPI_Comm_rank(talk, &rank_), "MPI_Comm_rank");
    must(MPI_Comm_size(talk, &size), "MPI_Comm_size");
    processes_.resize(static_cast<std::size_t>(size));
    waits_for_.resize(static_cast<std::size_t>(size));
    process_id const mine = this_process();
    must(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, processes_.data(), sizeof mine, MPI_BYTE, talk), "MPI_Allgather");
  }
  /// Whether the ranks have been introduced, so that they can tell each other.
  bool are_told() const { return talk_ != MPI_COMM_NULL; }
  int rank() const { return rank_; }
  std::vector<process_id> const& processes() const { return processes_; }

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
  /// The beginning of that sentence.
  static constexpr std::string_view begins_with = "it waited ";
  /// The name of a rank's last wait.
  static constexpr char the_end[] = "the end of the job";
  static constexpr char lost[] = "; all have come to it, but their messages have not";
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

  /// Tells all other ranks what this one waits for, or that it waits no more.
  void tell(std::string const& text) {
    message& m = told_.emplace_back();
    m.text = text.substr(0, longest);
    for (int r = 0; r < static_cast<int>(processes_.size()); ++r)
      if (r != rank_)
        must(
            MPI_Isend(m.text.data(), static_cast<int>(m.text.size()), MPI_CHAR, r, tag, talk_, &m.parts.emplace_back()),
            "MPI_Isend");
  }

  /// Whether some other rank waits.
  bool somebody_waits() const {
    return std::any_of(waits_for_.begin(), waits_for_.end(), [](auto& w) { return !w.empty(); });
  }
  // Whether this rank reports, because it is the first rank that waits. Ranks that wait for the end of the job come
  // last.
  bool is_root(bool at_end) const {
    return std::all_of(waits_for_.begin(), waits_for_.begin() + rank_,
                       [&](auto& w) { return w.empty() || (!at_end && w.starts_with(the_end)); });
  }
  bool somebody_is_at_end(mpi_pending const& f) const {
    return std::any_of(f.members, f.members + f.count, [&](int r) { return waiting(r).starts_with(the_end); });
  }
  static std::string what(mpi_pending const& f) { return what(f, f.call); }
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

 private:
  static constexpr int tag = 1, longest = 1000;

  struct message {
    std::string text;
    std::vector<MPI_Request> parts;
  };

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
  // The processes of the first three of these ranks, and their activities.
  std::string about(std::vector<int> const& ranks) const {
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, ranks.size()); ++i)
      text += (i == 0 ? " (" : "; ") + (ranks.size() == 1 ? "" : "rank " + std::to_string(ranks[i]) + ": ") +
              processes_[static_cast<std::size_t>(ranks[i])].text() + ", " + text_of(doing(ranks[i]));
    return text + (ranks.size() > 3 ? "; …)" : ")");
  }

  MPI_Comm talk_ = MPI_COMM_NULL;
  int rank_ = 0;
  std::vector<process_id> processes_;   // of all ranks
  std::vector<std::string> waits_for_;  // the last wait that each rank told, empty if it is not known to wait
  std::list<message> told_;             // messages of this rank that may be pending
};

}  // namespace meshtensor::comm

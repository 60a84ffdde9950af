// SPDX-License-Identifier: Apache-2.0
// Runs a list of timed instructions on the clocks of all ranks at once.
#pragma once

#include <vector>

#include "meshtensor/inspect/rank_links.hpp"
#include "meshtensor/inspect/timed_list.hpp"

namespace meshtensor::detail {

/// Clocks of ranks that all run one list, step after step. A rank begins its next step when its own list has ended. A
/// loop that may end early takes all its iterations, and so a cond takes both branches, unless their number is set.
class rank_clocks {
 public:
  /// `slowness` is for each rank the time that it takes for a second of the list.
  rank_clocks(timed_list const& list, mesh_shape const& mesh, network const& n, std::vector<double> slowness)
      : list_(list.instructions()),
        links_(n, mesh, static_cast<int>(slowness.size())),
        slowness_(std::move(slowness)),
        runs_(list_.size(), -1),
        now_(slowness_.size()),
        waited_(slowness_.size()),
        computed_(slowness_.size()) {
    for (timed_message const& m : list.messages()) {
      links_.prepare(*m.what);
      messages_.push_back({m.parts});
    }
  }

  rank_links& links() { return links_; }
  /// Sets how many iterations of the loop at an instruction run, or -1 if this is not known.
  void set_runs(std::size_t at, std::int64_t count) { runs_[at] = count; }
  void pause(std::size_t rank, std::int64_t nanoseconds) { now_[rank] = saturated_sum(now_[rank], nanoseconds); }
  void run_step() {
    for (std::size_t at = 0; at < list_.size();) at = run_at(at);
    for (std::size_t m = 0; m < messages_.size(); ++m) receive(m);
  }

  // Of each rank so far, in nanoseconds, and the computed seconds.
  std::vector<std::int64_t> const& now() const { return now_; }
  std::vector<std::int64_t> const& waited() const { return waited_; }
  std::vector<std::int64_t> const& taken() { return links_.taken(); }
  std::vector<double> const& computed() const { return computed_; }

 private:
  struct message {
    int parts, started = 0;
    bool under_way = false;
  };

  void send(std::size_t m) {
    message& e = messages_[m];
    if (++e.started < e.parts) return;
    receive(m);
    links_.start(m, now_);
    e.started = 0, e.under_way = true;
  }
  void receive(std::size_t m) {
    if (!messages_[m].under_way) return;
    messages_[m].under_way = false;
    std::vector<std::int64_t> const& done = links_.done(m);
    for (std::size_t r = 0; r < now_.size(); ++r) {
      std::int64_t const until = std::max(now_[r], done[r]);
      waited_[r] += until - now_[r];
      now_[r] = until;
    }
  }
  void compute(timed_instruction const& i) {
    for (std::size_t r = 0; r < now_.size(); ++r) {
      double const slow = slowness_[r];
      std::int64_t const takes = slow == 1 ? i.nanoseconds : saturated_count(static_cast<double>(i.nanoseconds) * slow);
      now_[r] = saturated_sum(now_[r], takes);
      computed_[r] += i.seconds * slow;
    }
  }

  void run_body(std::size_t at) {
    while (list_[at].kind != timed_kind::end) at = run_at(at);
  }
  /// Nothing is in flight between two iterations of a loop that may end early, so they take as long as the second one.
  /// Therefore a limit of a billion iterations costs no more than two.
  void run_loop(timed_instruction const& i, std::size_t at) {
    std::int64_t const trips = runs_[at] < 0 ? i.trips : std::min(runs_[at], i.trips);
    std::int64_t const before = iteration_, run = i.runs == no_id ? trips : std::min<std::int64_t>(trips, 2);
    auto const more = [extra = trips - run](auto& all, auto const& then) {
      for (std::size_t r = 0; r < all.size(); ++r)
        all[r] = saturated_sum(all[r], saturated_product(extra, all[r] - then[r]));
    };
    std::vector<std::int64_t> now, waited, taken;
    std::vector<double> computed;
    for (iteration_ = 0; iteration_ < run; ++iteration_) {
      if (iteration_ + 1 == run && run < trips)
        now = now_, waited = waited_, taken = links_.taken(), computed = computed_;
      run_body(at + 1);
    }
    iteration_ = before;
    if (run == trips) return;
    more(now_, now), more(waited_, waited), more(links_.taken(), taken);
    for (std::size_t r = 0; r < computed_.size(); ++r)
      computed_[r] += static_cast<double>(trips - run) * (computed_[r] - computed[r]);
  }
  /// Returns the index of the next instruction.
  std::size_t run_at(std::size_t at) {
    timed_instruction const& i = list_[at];
    switch (i.kind) {
      case timed_kind::compute: compute(i); break;
      case timed_kind::start: send(static_cast<std::size_t>(i.message)); break;
      case timed_kind::wait: receive(static_cast<std::size_t>(i.message)); break;
      case timed_kind::loop: run_loop(i, at); return i.behind;
      case timed_kind::next:
        if (iteration_ + 1 < i.trips) run_body(at + 1);
        return i.behind;
      case timed_kind::end: break;
    }
    return at + 1;
  }

  std::vector<timed_instruction> const& list_;
  rank_links links_;
  std::vector<double> slowness_;
  std::vector<message> messages_;
  std::vector<std::int64_t> runs_;  // by instruction
  std::vector<std::int64_t> now_, waited_;
  std::vector<double> computed_;
  std::int64_t iteration_ = 0;
};

}  // namespace meshtensor::detail

// SPDX-License-Identifier: Apache-2.0
// Runs one processor of a large mesh with a model of the network: predicts how a program scales to a machine that is
// not there yet.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "meshtensor/comm/reference.hpp"
#include "meshtensor/job/job.hpp"
#include "meshtensor/run/timeline.hpp"

namespace meshtensor {

/// The network between the processors along a mesh axis: latency of a message in seconds, and bytes a second that a
/// processor receives.
struct link {
  name axis;
  double latency = 0, bytes_per_second = 0;
};

/// Seconds of a collective over `count` processors: as many messages one after the other as a tree has levels, twice as
/// many for an all_reduce by parts, those of reduction_steps for a small one, plus the bytes that a processor receives.
///
/// source  the alpha-beta model; Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in
///         MPICH", 2005
constexpr double seconds_of(link const& l, collective_call const& call, int count) {
  if (count < 2) return 0;
  int levels = static_cast<int>(std::bit_width(static_cast<unsigned>(count - 1)));
  if (call.kind == collective::all_reduce) {
    reduction_steps const steps(count);
    levels = goes_in_steps(call) ? steps.exchanges() + (steps.rest != 0 ? 2 : 0) : 2 * levels;
  }
  return levels * l.latency + static_cast<double>(received_bytes_of(call, count, 0)) / l.bytes_per_second;
}

/// Runs the first processor of a mesh. It really computes; collectives take the time that the links say and overlap
/// with computation, those over one axis one after the other. In place of the others' blocks it gets its own, so only
/// the times of the results mean something.
class simulated_runner final : public job_runner {
 public:
  explicit simulated_runner(std::vector<link> links) : end_(std::move(links)) {}

  int size() const override { return 0; }
  std::vector<int> held(int) const override { return {0}; }
  void run(int, rank_work work) override { work(0, end_); }
  double ahead() const override { return static_cast<double>(end_.ahead()) * 1e-9; }
  /// Seconds of all collectives so far.
  double communicated() const { return static_cast<double>(end_.taken()) * 1e-9; }

 private:
  class network final : public transport {
   public:
    explicit network(std::vector<link> links) : links_(std::move(links)), busy_(links_.size()) {}

    int prepare(planned_collective const& c) override;
    void start(int number, planned_collective const& c, void const* in, void* out) override;
    void wait(int number) override {
      ahead_ += std::max<std::int64_t>(0, pending_[static_cast<std::size_t>(number)].done - now());
    }
    std::int64_t ahead() const override { return ahead_; }
    std::int64_t taken() const { return taken_; }

   private:
    struct pending_collective {
      std::vector<std::size_t> over;  // indices of links
      std::int64_t takes = 0, done = 0;
    };
    std::int64_t now() const { return timeline::now() + ahead_; }

    std::vector<link> links_;
    std::vector<std::int64_t> busy_;           // for each link: busy until this time, in nanoseconds of the job's clock
    std::vector<pending_collective> pending_;  // by number
    std::int64_t ahead_ = 0, taken_ = 0;
  };

  network end_;
};

inline int simulated_runner::network::prepare(planned_collective const& c) {
  pending_collective f;
  for (name const& axis : c.axes) {
    std::size_t i = 0;
    while (i < links_.size() && !(links_[i].axis == axis)) ++i;
    if (i == links_.size())
      throw error("R28", {"the mesh axis '", axis, "' has no link: a model of a network needs one for each axis"});
    if (!(links_[i].bytes_per_second > 0) || links_[i].latency < 0)
      throw error("R28",
                  {"the link of the mesh axis '", axis, "' carries no bytes: give it a rate, in bytes a second"});
    f.over.push_back(i);
    f.takes = std::max(f.takes, static_cast<std::int64_t>(seconds_of(links_[i], c.call, c.with.count) * 1e9));
  }
  pending_.push_back(std::move(f));
  return static_cast<int>(pending_.size()) - 1;
}

inline void simulated_runner::network::start(int number, planned_collective const& c, void const* in, void* out) {
  std::int64_t const begin = timeline::now();
  pending_collective& f = pending_[static_cast<std::size_t>(number)];
  std::int64_t free = now();
  for (std::size_t i : f.over) free = std::max(free, busy_[i]);
  f.done = free + f.takes;
  for (std::size_t i : f.over) busy_[i] = f.done;
  taken_ += f.takes;
  bool const sums = c.call.kind == collective::all_reduce || c.call.kind == collective::reduce_scatter;
  if (sums && in != out)
    comm::copy(out, comm::whole(result_bytes_of(c.call, c.with.count, 0)), in, comm::taken(c.call, c.with.count, 0, 0));
  else if (!sums) comm::deliver(c.call, c.with.count, 0, [in](int) { return in; }, out);
  ahead_ -= timeline::now() - begin;  // copying stands for the network, so it is no time of the processor
}

/// A job in which this process is the first processor of any mesh, and a model is the network. `record()` and `profile`
/// of an executable then tell how long a step takes there, and how much of its communication is exposed.
///
///     auto const job = mt::simulated({{"data", 20e-6, 1.25e9}});  // 20 µs a message, 10 Gbit/s
///
/// errors  R28 an axis has no link
inline job simulated(std::vector<link> links) { return job(std::make_unique<simulated_runner>(std::move(links))); }

}  // namespace meshtensor

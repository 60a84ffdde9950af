// SPDX-License-Identifier: Apache-2.0
// Predicts how a program scales: it runs one rank of a large mesh, and a model of the network replaces the other ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "meshtensor/comm/reference.hpp"
#include "meshtensor/inspect/link_clock.hpp"
#include "meshtensor/job/job.hpp"
#include "meshtensor/run/timeline.hpp"

namespace meshtensor {

/// Runs the first rank of a mesh. It really computes. Collectives take the time that the links say and overlap with
/// computation, but those over one axis run one after the other. The rank gets its own blocks in place of the other
/// ranks' blocks, so only the times of the results mean something.
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
    explicit network(std::vector<link> links) : clock_(std::move(links)) {}

    int prepare(planned_collective const& c) override { return clock_.prepare(c); }
    bool start(int number, planned_collective const& c, void const* in, void* out) override;
    void wait(int number) override { ahead_ += std::max<std::int64_t>(0, clock_.done(number) - now()); }
    std::int64_t ahead() const override { return ahead_; }
    std::int64_t taken() const { return clock_.taken(); }

   private:
    std::int64_t now() const { return timeline::now() + ahead_; }

    link_clock clock_;
    std::int64_t ahead_ = 0;
  };

  network end_;
};

inline bool simulated_runner::network::start(int number, planned_collective const& c, void const* in, void* out) {
  std::int64_t const begin = timeline::now();
  clock_.start(number, now());
  bool const sums = c.call.kind == collective::all_reduce || c.call.kind == collective::reduce_scatter;
  std::int64_t const bytes = result_bytes_of(c.call, c.with.count, 0);
  if (in == nullptr && out != nullptr)  // a slice of a loop's stack that another rank has
    std::memset(out, 0, static_cast<std::size_t>(bytes));
  else if (sums && in != out) comm::copy(out, comm::whole(bytes), in, comm::taken(c.call, c.with.count, 0, 0));
  else if (!sums && out != nullptr) comm::deliver(c.call, c.with.count, 0, [in](int) { return in; }, out);
  ahead_ -= timeline::now() - begin;  // copying stands for the network, so it is no time of the rank
  return true;
}

/// A job in which this process is the first rank of any mesh, and a model replaces the network. `record()` and
/// `profile` of an executable then tell how long a step takes there, and how much of its communication is exposed.
///
///     auto const job = mt::simulated({{"data", 20e-6, 1.25e9}});  // 20 µs a message, 10 Gbit/s
///
/// errors  R28 an axis has no link
inline job simulated(std::vector<link> links) { return job(std::make_unique<simulated_runner>(std::move(links))); }

}  // namespace meshtensor

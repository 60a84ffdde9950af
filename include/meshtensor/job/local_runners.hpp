// SPDX-License-Identifier: Apache-2.0
// Runs all ranks of a job in this process, as threads or in lockstep on one thread.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "meshtensor/base/cores.hpp"
#include "meshtensor/comm/local.hpp"
#include "meshtensor/job/job_runner.hpp"
#include "meshtensor/job/lockstep.hpp"

namespace meshtensor {

/// Runs all ranks of a mesh as threads of this process. Rank 0 runs on the calling thread, and the other threads live
/// as long as the job. Only one thread may call `run` at a time.
class thread_runner final : public job_runner {
 public:
  int size() const override { return 0; }
  std::vector<int> held(int size) const override {
    std::vector<int> all;
    for (int r = 0; r < size; ++r) all.push_back(r);
    return all;
  }
  void run(int size, rank_work work) override {
    connected& c = world_of(size);
    c.world.run([&](local_member& member) { work(member.rank(), c.ends[static_cast<std::size_t>(member.rank())]); });
  }

 private:
  struct connected {
    explicit connected(int size) : world(size, waits_of_a_job()) {
      static_cast<void>(asked_threads());  // R29 on every device, as for the limits
      for (int r = 0; r < size; ++r) ends.emplace_back(world.member(r));
    }
    local_world world;
    std::deque<transport_over<local_member>> ends;  // one for each rank
    std::unique_ptr<connected> next;
  };
  connected& world_of(int size) {
    std::unique_ptr<connected>* at = &worlds_;
    while (*at && (*at)->world.size() != size) at = &(*at)->next;
    if (!*at) *at = std::make_unique<connected>(size);
    return **at;
  }
  std::unique_ptr<connected> worlds_;  // a list with one entry for each size
};

/// Runs all ranks of a mesh in lockstep on the calling thread. This is for tests, and for meshes far larger than the
/// machine.
template <class = lazy>
class lockstep_runner final : public job_runner {
 public:
  explicit lockstep_runner(collective_timing timing = collective_timing::at_once) : timing_(timing) {}
  int size() const override { return 0; }
  std::vector<int> held(int size) const override { return thread_runner().held(size); }
  bool in_lockstep() const override { return true; }
  std::unique_ptr<transport> transport_of_all(int size) const override {
    return std::make_unique<lockstep<>>(size, timing_);
  }
  void run(int, rank_work) override {
    throw error("R03", "in lockstep there is no transport: communicate through a plan, or use threads or ranks");
  }

 private:
  collective_timing timing_;
};

}  // namespace meshtensor

// SPDX-License-Identifier: Apache-2.0
// Carries a plan's collectives to a communicator, and runs the ranks of a job: threads of this process, or processes
// under MPI.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "meshtensor/base/function_ref.hpp"
#include "meshtensor/base/warning.hpp"
#include "meshtensor/comm/exchange_timing.hpp"
#include "meshtensor/comm/local.hpp"
#include "meshtensor/job/rank_context.hpp"

namespace meshtensor {

/// One processor's way to its peers.
class transport {
 public:
  virtual ~transport() = default;
  /// Makes a collective known before the first step and gives its number; all processors call it for the same
  /// collectives, in one order.
  virtual int prepare(planned_collective const& c) = 0;
  virtual void start(int number, planned_collective const& c, void const* in, void* out) = 0;
  virtual void wait(int number) = 0;
  /// Drives what is under way, where nothing else does.
  virtual void progress() {}
  /// What is under way will not end: touches its memory no more.
  virtual void abandon() {}
  /// What its collectives take beside their operands and results.
  virtual std::int64_t workspace_bytes() const { return 0; }
  /// Nanoseconds by which the clock of a model of a network is ahead of this machine's.
  virtual std::int64_t ahead() const { return 0; }
};

/// A transport over any communicator. It takes memory in `prepare` only.
template <communicator C>
class transport_over final : public transport {
 public:
  explicit transport_over(C& c) : c_(c) {}
  int prepare(planned_collective const& c) override {
    c_.prepare(c.with);
    auto const bytes = static_cast<std::size_t>(c_.workspace_bytes(c.call, c.with.count));
    pending_.emplace_back();
    pending_.back().workspace.resize(bytes == 0 ? 0 : bytes / 8 + 16);
    return static_cast<int>(pending_.size()) - 1;
  }
  void start(int number, planned_collective const& c, void const* in, void* out) override {
    pending_collective& f = pending_[static_cast<std::size_t>(number)];
    auto const address = reinterpret_cast<std::uintptr_t>(f.workspace.data());
    void* const aligned = reinterpret_cast<std::byte*>(f.workspace.data()) + (64 - address % 64) % 64;
    f.request = c_.start(c.call, c.with, in, out, aligned);
  }
  void wait(int number) override { c_.wait(pending_[static_cast<std::size_t>(number)].request); }
  void progress() override {
    if constexpr (requires { c_.progress(); }) c_.progress();
  }
  std::int64_t workspace_bytes() const override {
    std::size_t words = 0;
    for (pending_collective const& f : pending_) words += f.workspace.size();
    return static_cast<std::int64_t>(words * sizeof(double));
  }
  void abandon() override {
    if constexpr (requires { c_.abandon(); }) c_.abandon();
  }

 private:
  struct pending_collective {
    std::vector<double> workspace;
    typename C::request request;
  };
  C& c_;
  std::deque<pending_collective> pending_;
};

/// The limits that the environment gives, with warnings where all warnings go. errors R29
inline wait_limits waits_of_a_job() {
  wait_limits limits = limits_in_environment();
  limits.say = [](std::string const& sentence) {
    if (on_warning()) on_warning()(sentence);
  };
  return limits;
}

/// What every processor does in one run.
using rank_work = function_ref<void(int rank, transport&)>;

/// The processors that run a job, and which of them this process holds.
class job_runner {
 public:
  virtual ~job_runner() = default;
  /// How many processors there are; 0: as many as a mesh asks for.
  virtual int size() const = 0;
  /// The ranks that this process holds, of a mesh of `size` processors.
  virtual std::vector<int> held(int size) const = 0;
  /// Whether all of a mesh runs node by node on the calling thread, without a transport.
  virtual bool in_lockstep() const { return false; }
  /// When collectives do their work in lockstep.
  virtual exchange_timing timing() const { return exchange_timing::at_once; }
  /// Calls work(rank, transport) for every processor that this process holds, at once, and waits for all.
  virtual void run(int size, rank_work work) = 0;
  /// Seconds by which the job's clock is ahead of this machine's: what a model of a network has added.
  virtual double ahead() const { return 0; }
  /// Whether this process speaks for the job.
  virtual bool speaks() const { return true; }
  /// Whether a processor of another process has failed, or this one has: messages may be under way that will not end,
  /// so memory that they use stays.
  virtual bool has_failed() const { return false; }
  /// This process has refused a step, alone perhaps, and why: what the others are told if it leaves the job for it.
  virtual void has_refused(std::string_view) {}
  /// This process has failed, and has said why: ends the others too, which would wait for it for ever. Returns where
  /// there are none.
  virtual void end(int) {}
};

/// All processors of a mesh as threads of this process: the first one is the calling thread, the others live as long as
/// the job. One thread runs it at a time.
class thread_runner final : public job_runner {
 public:
  int size() const override { return 0; }
  std::vector<int> held(int size) const override {
    std::vector<int> all;
    for (int r = 0; r < size; ++r) all.push_back(r);
    return all;
  }
  void run(int size, rank_work work) override {
    connected& c = worlds_.try_emplace(size, size).first->second;
    c.world.run([&](local_member& member) { work(member.rank(), c.ends[static_cast<std::size_t>(member.rank())]); });
  }

 private:
  struct connected {
    explicit connected(int size) : world(size, waits_of_a_job()) {
      for (int r = 0; r < size; ++r) ends.emplace_back(world.member(r));
    }
    local_world world;
    std::deque<transport_over<local_member>> ends;  // of each rank
  };
  std::map<int, connected> worlds_;
};

/// All processors of a mesh in turns on the calling thread: for tests, and for meshes far larger than the machine.
class lockstep_runner final : public job_runner {
 public:
  explicit lockstep_runner(exchange_timing timing = exchange_timing::at_once) : timing_(timing) {}
  int size() const override { return 0; }
  std::vector<int> held(int size) const override { return thread_runner().held(size); }
  bool in_lockstep() const override { return true; }
  exchange_timing timing() const override { return timing_; }
  void run(int, rank_work) override { throw error("R03", "processors that take turns have no transport"); }

 private:
  exchange_timing timing_;
};

}  // namespace meshtensor

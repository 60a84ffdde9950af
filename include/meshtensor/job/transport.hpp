// SPDX-License-Identifier: Apache-2.0
// Executes a plan's collectives on a communicator; the interface of what runs the ranks of a job.
#pragma once

#include <deque>
#include <exception>
#include <memory>
#include <vector>

#include "meshtensor/base/function_ref.hpp"
#include "meshtensor/comm/communicator.hpp"
#include "meshtensor/job/exchanges.hpp"

namespace meshtensor {

class mpi_world;
struct start_record;

/// One processor's endpoint of the collectives.
class transport {
 public:
  virtual ~transport() = default;
  /// Registers a collective before the first step and returns its number. All processors register the same collectives
  /// in the same order.
  virtual int prepare(planned_collective const& c) = 0;
  /// The collective with this number is not started any more; another one of its group may get the number.
  virtual void release(int) {}
  virtual void start(int number, planned_collective const& c, void const* in, void* out) = 0;
  virtual void wait(int number) = 0;
  /// Progresses pending collectives where no thread does.
  virtual void progress() {}
  /// Pending collectives will not end: from now on their memory is not touched.
  virtual void abandon() {}
  /// Bytes of workspace of its collectives, besides operands and results.
  virtual std::int64_t workspace_bytes() const { return 0; }
  /// Nanoseconds by which the clock of a network model is ahead of this machine's.
  virtual std::int64_t ahead() const { return 0; }
  /// Whether operand and result of a collective are handed to another library as they are, and no code of this one
  /// reads or writes them: then they may be a device's memory.
  virtual bool only_mpi_touches(planned_collective const&) const { return false; }
};

/// A transport over any communicator. It allocates in `prepare` only.
template <communicator C>
class transport_over final : public transport {
 public:
  explicit transport_over(C& c) : c_(c) {}
  int prepare(planned_collective const& c) override {
    auto const bytes = static_cast<std::size_t>(c_.workspace_bytes(c.call, c.with.count));
    std::size_t number = 0;
    while (number < pending_.size() && !(pending_[number].released && pending_[number].members == c.members)) ++number;
    if (number == pending_.size()) {
      if constexpr (requires { c_.prepare(c.with, c.call); }) c_.prepare(c.with, c.call);
      else c_.prepare(c.with);
      pending_.emplace_back().members = c.members;
    }
    pending_[number].released = false;
    pending_[number].workspace.resize(bytes == 0 ? 0 : bytes / 8 + 16);
    return static_cast<int>(number);
  }
  void release(int number) override {
    pending_collective& f = pending_[static_cast<std::size_t>(number)];
    f.released = true;
    f.workspace = {};
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
  bool only_mpi_touches(planned_collective const& c) const override {
    if constexpr (requires { c_.only_mpi_touches(c.call, 1); }) return c_.only_mpi_touches(c.call, c.with.count);
    else return false;
  }

 private:
  struct pending_collective {
    std::vector<int> members;
    bool released = false;
    std::vector<double> workspace;
    typename C::request request;
  };
  C& c_;
  std::deque<pending_collective> pending_;
};

/// The work of every processor in one run.
using rank_work = function_ref<void(int rank, transport&)>;

/// Runs the processors of a job, and knows which of them this process holds.
class job_runner {
 public:
  virtual ~job_runner() = default;
  /// The number of processors; 0: as many as a mesh asks for.
  virtual int size() const = 0;
  /// The ranks that this process holds, of a mesh of `size` processors.
  virtual std::vector<int> held(int size) const = 0;
  /// Whether all processors of a mesh run in lockstep, node by node, on the calling thread, without a transport.
  virtual bool in_lockstep() const { return false; }
  /// The exchanges of all processors in lockstep; null otherwise.
  virtual std::unique_ptr<exchanges> exchanges_of_all() const { return nullptr; }
  /// Calls work(rank, transport) concurrently for every processor that this process holds, and waits for all.
  virtual void run(int size, rank_work work) = 0;
  /// Seconds by which the job's clock is ahead of this machine's: the time that a network model has added.
  virtual double ahead() const { return 0; }
  /// The MPI processes that share the job; null: this process holds all processors.
  virtual mpi_world* processes() { return nullptr; }
  /// Compares what all processes are about to run. One calls it with its record or, if it could not make one, with the
  /// exception `refused`. A runner of several processes calls require_same_on_all_ranks (same_on_all_ranks.hpp).
  virtual void require_same(start_record const*, std::exception_ptr const& refused) {
    if (refused) std::rethrow_exception(refused);
  }
  /// Whether this process prints for the job.
  virtual bool is_root() const { return true; }
  /// Whether a processor of this process or of another one has failed. Pending messages may then never end, so their
  /// memory must not be freed.
  virtual bool has_failed() const { return false; }
  /// Records why this process refused a step, perhaps alone: the others get this sentence if it then leaves the job.
  virtual void has_refused(std::string_view) {}
  /// Ends the other processes, which would wait for this one for ever: it has failed, and has said why. Returns if
  /// there are no others.
  virtual void end(int) {}
};

}  // namespace meshtensor

// SPDX-License-Identifier: Apache-2.0
// Executes a plan's collectives on a communicator, and declares the interface of a runner of a job's ranks.
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

/// The endpoint of one rank for collectives.
class transport {
 public:
  virtual ~transport() = default;
  /// Registers a collective before the first step and returns its number. All ranks must register the same collectives
  /// in the same order.
  virtual int prepare(planned_collective const& c) = 0;
  /// Says that the collective with this number is not started any more. Another one of the same group may get the
  /// number.
  virtual void release(int) {}
  virtual void start(int number, planned_collective const& c, void const* in, void* out) = 0;
  virtual void wait(int number) = 0;
  /// Progresses pending collectives. It is a no-op if a thread progresses them.
  virtual void progress() {}
  /// Says that pending collectives will not end. From now on the transport does not touch their memory.
  virtual void abandon() {}
  /// Bytes of workspace of its collectives, besides operands and results.
  virtual std::int64_t workspace_bytes() const { return 0; }
  /// Nanoseconds by which the clock of a network model is ahead of this machine's clock.
  virtual std::int64_t ahead() const { return 0; }
  /// Whether the collective passes operand and result unchanged to another library, and no code of this library reads
  /// or writes them. If so, they may be in a device's memory.
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

/// The work of each rank in one run.
using rank_work = function_ref<void(int rank, transport&)>;

/// Runs the ranks of a job, and knows which of them this process holds.
class job_runner {
 public:
  virtual ~job_runner() = default;
  /// The number of ranks, or 0 if a job has as many as a mesh asks for.
  virtual int size() const = 0;
  /// The ranks that this process holds, of a mesh of `size` ranks.
  virtual std::vector<int> held(int size) const = 0;
  /// Whether all ranks of a mesh run in lockstep, node by node, on the calling thread and without a transport.
  virtual bool in_lockstep() const { return false; }
  /// The collectives of all ranks in lockstep, or null if they do not run in lockstep.
  virtual std::unique_ptr<exchanges> exchanges_of_all() const { return nullptr; }
  /// Calls work(rank, transport) concurrently for every rank that this process holds, and waits for all.
  virtual void run(int size, rank_work work) = 0;
  /// Seconds by which the job's clock is ahead of this machine's clock. This is the time that a network model has
  /// added.
  virtual double ahead() const { return 0; }
  /// The MPI processes that share the job, or null if this process holds all ranks.
  virtual mpi_world* processes() { return nullptr; }
  /// Compares the programs that all processes are about to run. A process passes its record. If it could not make one,
  /// it passes the exception `refused` instead. A runner of several processes calls require_same_on_all_ranks
  /// (same_on_all_ranks.hpp).
  virtual void require_same(start_record const*, std::exception_ptr const& refused) {
    if (refused) std::rethrow_exception(refused);
  }
  /// Whether this process prints for the job.
  virtual bool is_root() const { return true; }
  /// Whether a rank of this process or of another one has failed. Pending messages may then never end, so their memory
  /// must not be freed.
  virtual bool has_failed() const { return false; }
  /// Records why this process refused a step, perhaps alone. If it then leaves the job, the other processes get this
  /// sentence.
  virtual void has_refused(std::string_view) {}
  /// Ends the other processes after this one has failed and has printed why. Otherwise they would wait for this one for
  /// ever. Returns if there are no others.
  virtual void end(int) {}
};

}  // namespace meshtensor

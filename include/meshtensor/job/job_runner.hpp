// SPDX-License-Identifier: Apache-2.0
// The interface of a runner, which runs the ranks of a job.
#pragma once

#include <exception>
#include <memory>
#include <string_view>
#include <vector>

#include "meshtensor/base/function_ref.hpp"
#include "meshtensor/job/transport.hpp"

namespace meshtensor {

class process_group;
struct start_record;

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
  /// Whether all ranks of a mesh run in lockstep, node by node, on the calling thread. Then `run` throws.
  virtual bool in_lockstep() const { return false; }
  /// Makes the transport of all `size` ranks of a mesh in lockstep. It is null if they do not run in lockstep.
  virtual std::unique_ptr<transport> transport_of_all(int) const { return nullptr; }
  /// Calls work(rank, transport) concurrently for every rank that this process holds, and waits for all.
  virtual void run(int size, rank_work work) = 0;
  /// Seconds by which the job's clock is ahead of this machine's clock. This is the time that a network model has
  /// added.
  virtual double ahead() const { return 0; }
  /// The processes that share the job, or null if this process holds all ranks.
  virtual process_group* processes() { return nullptr; }
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
  /// Records the exception that is being handled as such a reason, if it has a sentence.
  void has_thrown() {
    try {
      throw;
    } catch (std::exception const& e) { has_refused(e.what()); } catch (...) {
    }
  }
  /// Ends the other processes after this one has failed and has printed why. Otherwise they would wait for this one for
  /// ever. Returns if there are no others.
  virtual void end(int) {}
};

}  // namespace meshtensor

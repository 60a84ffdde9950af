// SPDX-License-Identifier: Apache-2.0
// Runs a job on MPI ranks, so that each process is one rank of the mesh.
#pragma once

#include <optional>

#include "meshtensor/comm/mpi.hpp"
#include "meshtensor/comm/mpi/last_words.hpp"
#include "meshtensor/comm/mpi/pin.hpp"
#include "meshtensor/comm/mpi/process_group.hpp"
#include "meshtensor/comm/wait_limits.hpp"
#include "meshtensor/job/job_runner.hpp"
#include "meshtensor/job/launch.hpp"
#include "meshtensor/job/same_on_all_ranks.hpp"

namespace meshtensor {

class mpi_runner final : public job_runner {
 public:
  /// Runs on all ranks that the launcher started. Ranks on one machine split its cores.
  mpi_runner() : mpi_runner(MPI_COMM_WORLD, false) {
    comm::keep_apart(world_.handle(), keeps_to_own_cores());
    last_words_.emplace(world_.neighbours(), world_.rank());
  }
  /// Runs on ranks of a program's own MPI. An error on one rank is thrown on all ranks, and no rank is aborted.
  explicit mpi_runner(MPI_Comm user) : mpi_runner(user, true) {}
  ~mpi_runner() override {
    if (world_.has_failed()) static_cast<void>(end_.release());  // pending messages may still use its workspaces
  }

  int size() const override { return world_.size(); }
  std::vector<int> held(int) const override { return {world_.rank()}; }
  process_group* processes() override { return world_.size() > 1 ? &processes_ : nullptr; }
  void require_same(start_record const* mine, std::exception_ptr const& refused) override {
    require_same_on_all_ranks(*this, mine, refused);
  }
  bool is_root() const override { return world_.rank() == 0; }
  bool has_failed() const override { return world_.has_failed(); }
  void end(int exit_code) override {
    world_.abandon();
    world_.neighbours().speaks_first();  // its error is printed already
    if (world_.size() > 1) MPI_Abort(world_.handle(), exit_code);
  }
  void has_refused(std::string_view why) override { world_.remember(why); }
  void run(int, rank_work work) override {
    world_.remember("");
    world_.next_phase();
    try {
      work(world_.rank(), *end_);
      world_.next_phase();
    } catch (std::exception const& e) {
      world_.tell(e.what());
      throw;
    } catch (...) {
      world_.tell(unknown_exception);
      throw;
    }
  }

 private:
  mpi_runner(MPI_Comm user, bool guest)
      : world_(user,
               {.limits = waits_of_a_job(), .in_background = progress_by_thread(), .tells = true, .throws = guest}),
        end_(std::make_unique<transport_over<mpi_world>>(world_)) {}

  mpi_world world_;
  comm::mpi_process_group processes_{world_};
  std::unique_ptr<transport_over<mpi_world>> end_;
  std::optional<comm::last_words> last_words_;  // only where a launcher started the ranks
};

}  // namespace meshtensor

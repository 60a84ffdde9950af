// Ranks of MPI as the processors of a job: this process holds one.
#pragma once

#include "meshtensor/comm/launch.hpp"
#include "meshtensor/comm/mpi.hpp"
#include "meshtensor/comm/mpi/pin.hpp"
#include "meshtensor/run/transport.hpp"

namespace meshtensor {

class mpi_job final : public job {
 public:
  /// All ranks that the launcher started: they keep apart on a machine that they share.
  mpi_job() : mpi_job(MPI_COMM_WORLD) { comm::keep_apart(world_.handle(), keeps_to_own_cores()); }
  explicit mpi_job(MPI_Comm user)
      : world_(user, {.timeout = wait_limit(), .in_background = progress_by_thread()}), end_(world_) {}

  int size() const override { return world_.size(); }
  std::vector<int> held(int) const override { return {world_.rank()}; }
  bool speaks() const override { return world_.rank() == 0; }
  void end(int exit_code) override {
    world_.abandon();
    if (world_.size() > 1) MPI_Abort(world_.handle(), exit_code);
  }
  void run(int, processor_work work) override { work(world_.rank(), end_); }

 private:
  mpi_world world_;
  transport_over<mpi_world> end_;
};

}  // namespace meshtensor

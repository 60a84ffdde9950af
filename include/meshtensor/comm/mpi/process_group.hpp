// SPDX-License-Identifier: Apache-2.0
// The MPI processes of a job as a process_group.
#pragma once

#include <utility>

#include "meshtensor/comm/mpi/key_values.hpp"
#include "meshtensor/comm/process_group.hpp"

namespace meshtensor::comm {

class mpi_process_group final : public process_group {
 public:
  explicit mpi_process_group(mpi_world& world) : world_(world) {}

  int rank() const override { return world_.rank(); }
  std::vector<int> ranks_here() override { return world_.ranks_here(); }
  key_values& values() override { return mpi_key_values::of(world_); }
  std::string library_name() const override { return comm::library_name(); }
  bool takes_device_memory() const override { return takes_memory_of_gpus(); }
  void enter_thread_by(std::function<void()> enter) override { world_.enter_thread_by(std::move(enter)); }

 private:
  mpi_world& world_;
};

}  // namespace meshtensor::comm

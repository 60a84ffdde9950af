// SPDX-License-Identifier: Apache-2.0
// Ranks with mt::cuda_device, the host in the place of each one's GPU: every bit of the same device in lockstep, in one
// process; what is captured between two collectives is replayed. With MESHTENSOR_ON_CARD=1, on GPUs.
// passes: start-up
// sanitize: no
// ranks: 2 3 4
// needs: mpi
// timeout: 600
// part: cuda
#include <stdlib.h>  // setenv

#include "meshtensor/device/cuda/device.hpp"
#include "mpi/recorded_devices.hpp"
#include "support/early_loops.hpp"
#include "support/gpu_of_tests.hpp"
#include "support/layers_of_experts.hpp"

using namespace recorded;

namespace {

using meshtensor_test::gpu_of_tests;

}  // namespace

TEST_CASE("twenty losses of a Transformer") {
  mt::job const job(std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD));
  gpu_of_tests here;
  hold_in_training<mt::cuda_device, mt::cuda_device>(job);
  auto const* const gpu = here.host();
  if (gpu == nullptr) return;  // on a card
  CHECK(gpu->recordings > 2);
  CHECK(gpu->replays >= gpu->recordings);
  CHECK(gpu->blocks() == 0);
  CHECK(gpu->host_blocks() == 0);
}

TEST_CASE("loops end early on all ranks") {
  mt::job const job(MPI_COMM_WORLD), turns = mt::job::in_lockstep();
  gpu_of_tests const here;
  auto const hold = [&]<class Program>(Program) {
    auto const run = [&](mt::job const& j) {
      return early_loops::all_steps<Program, early_loops::in_parts, mt::cuda_device>(j, ranks::count(), 1,
                                                                                     [](auto&, int) {});
    };
    CHECK(run(job) == run(turns));
  };
  hold(early_loops::one());
  hold(early_loops::nested());
  hold(early_loops::in_layers());
}

TEST_CASE("rows go to the holders of their experts on other ranks, and come back") {
  namespace experts = layers_of_experts;
  if (6 % ranks::count() != 0) return;
  gpu_of_tests const here;
  auto const losses = [](mt::job const& job) {
    mt::store weights(job, 3);
    experts::executable<mt::cuda_device> step(weights, experts::data(ranks::count()));
    CHECK(experts::exchanges_rows(step.graph()));
    std::vector<double> all;
    for (int i = 0; i < 4; ++i) all.push_back(experts::one_step(step, i));
    return all;
  };
  auto const mine = losses(mt::job(std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD)));
  CHECK(mine == losses(mt::job::in_lockstep()));
  CHECK(mine.back() < mine.front());
}

TEST_CASE("MPI gets memory of the GPU only if it says that it takes it") {
  setenv("MESHTENSOR_CUDA_AWARE_MPI", "1", 1);
  {
    mt::job const job(MPI_COMM_WORLD);
    std::string said;
    try {
      mt::cuda_device::join(*job.get().processes());
    } catch (mt::error const& e) { said = e.what(); }
    CHECK(said.empty() == mt::comm::takes_memory_of_gpus());
    if (!said.empty()) CHECK(said.find("R79: MESHTENSOR_CUDA_AWARE_MPI asks that MPI gets memory") != said.npos);
  }
  unsetenv("MESHTENSOR_CUDA_AWARE_MPI");
  CHECK(!mt::cuda_device::hands_memory_to_transport());
}

// SPDX-License-Identifier: Apache-2.0
// Programs with each, map and steps on mt::cuda_device: the numbers of plain loops, with kernels that the host's
// compiler makes of the text for a GPU, on one rank and with a sharded dim of the each.
// passes: start-up
// part: cuda
#include <doctest/doctest.h>

#include "meshtensor/device/cuda/device.hpp"
#include "support/gpu_of_tests.hpp"
#include "support/programs_of_indices.hpp"

using namespace of_indices;

namespace {

template <class Program, class... Layout>
void same_on_cuda() {
  meshtensor_test::gpu_of_tests const here;
  auto const wanted = results<Program, by_in, mt::reference_device>(1);
  CHECK(difference(results<Program, by_in, mt::cuda_device>(1), wanted, 1e-9) == "");
  ((void)[&] { CHECK(difference(results<Program, Layout, mt::cuda_device>(2), wanted, 1e-9) == ""); }(), ...);
}

}  // namespace

TEST_CASE("an ensemble") { same_on_cuda<ensemble, by_member, by_in>(); }
TEST_CASE("gradients of each example") { same_on_cuda<private_gradients, by_example, by_in>(); }
TEST_CASE("loops and branches that differ") { same_on_cuda<settling, by_task, by_example, by_in>(); }
TEST_CASE("scans that stop") { same_on_cuda<stopping, by_member, by_in>(); }
TEST_CASE("steps around a map") { same_on_cuda<rounds_of_training, by_example, by_in>(); }

// SPDX-License-Identifier: Apache-2.0
// One source on mt::cuda_device: the losses of unit/run/one_source.
// passes: start-up
// sanitize: no
// timeout: 600
// part: cuda
#include "unit/run/one_source.hpp"

#include <doctest/doctest.h>

#include "meshtensor/device/cuda/device.hpp"
#include "support/gpu_of_tests.hpp"

using namespace one_source;

TEST_CASE("cuda, with the host in place of a GPU") {
  meshtensor_test::gpu_of_tests const gpu;
  trains_as_plain_loops<mt::cuda_device>();
}

// SPDX-License-Identifier: Apache-2.0
// A whole training on ranks is the training on threads and in turns: every bit of twenty losses and of all parameters.
// ranks: 2 4 6 8
// needs: mpi
// timeout: 300
#include "mpi/training.hpp"

TEST_CASE("ranks, threads and lockstep are one for twenty steps") {
  training::hold_on_ranks(meshtensor::reference_device());
  training::hold_on_ranks<meshtensor::dtype::f64>(meshtensor::reference_device());
}

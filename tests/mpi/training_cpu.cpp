// SPDX-License-Identifier: Apache-2.0
// A whole training of the cpu device on ranks is its training on threads and in turns, bit for bit.
// passes: start-up
// ranks: 2 4 6 8
// needs: mpi cpu
// timeout: 300
#include "meshtensor/device/cpu/device.hpp"
#include "mpi/training.hpp"

TEST_CASE("ranks, threads and lockstep are one for twenty steps on the cpu device") {
  // One thread a processor: a product may be cut between threads, and then rounds by their number.
  training::hold_on_ranks(meshtensor::cpu_device(1));
}

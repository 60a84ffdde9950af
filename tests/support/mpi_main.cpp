// SPDX-License-Identifier: Apache-2.0
// The main function of every test that runs under mpirun. A rank whose checks fail ends all ranks at once, for the
// others may be waiting for it.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <mpi.h>

#include "support/skip.hpp"

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  doctest::Context context(argc, argv);
  context.setOption("minimal", rank != 0);  // rank 0 prints for all, until one fails
  context.setOption("no-colors", true);     // mpirun's pipes look like a terminal
  int const checks = context.run();
  if (checks != 0) MPI_Abort(MPI_COMM_WORLD, checks);

  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized) MPI_Finalize();
  return meshtensor_test::status(checks);
}

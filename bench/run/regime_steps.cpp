// SPDX-License-Identifier: Apache-2.0
// How long steps of replicas take over the links between the ranks, under several policies, beside the times that
// mt::predict gives. Devices sleep instead of computing, so several ranks may share a core.
// passes: start-up
//
//   mpirun -n 4 build/quickstart/bench/run/regime_steps --mbit 100 [--latency 100e-6 --compute 0.4 --steps 16 …]
#include "../regime_steps.hpp"

namespace mt = meshtensor;

int main(int argc, char** argv) {
  return regime_steps::run<wall_clock>(argc, argv, [&] { return mt::job(argc, argv); });
}

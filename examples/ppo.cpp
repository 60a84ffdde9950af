// SPDX-License-Identifier: Apache-2.0
// Learns to act by proximal policy optimization (PPO) on a mesh of ranks. The environments are in the program, so one
// call acts, estimates advantages and learns. For example, start it as `ppo`, or with --help.
//
// The algorithm is in ppo.hpp:
//
//     rollout: all environments act for some steps. Those whose episodes end begin anew
//     advantages: generalized advantage estimation, with the values of a critic
//     epochs of minibatches: Adam on the clipped surrogate objective, the error of the critic and the entropy
#include "common/main_with_options.hpp"
#include "ppo/training.hpp"

int main(int argc, char** argv) {
  return examples::main_with_options(argc, argv, ppo::read_command_line,
                                     [](meshtensor::job const& job, ppo::options& o) {
                                       ppo::complete_mesh(o, job.processes());
                                       return ppo::train(job, o);
                                     });
}

// SPDX-License-Identifier: Apache-2.0
// The training step of lm_step.cpp on mt::cuda_device.
// passes: start-up
//
//   build/quickstart/bench/run/lm_on_cuda [--size lm|lm_base|tiny] [--dtype bf16]
#include <meshtensor/device/cuda/device.hpp>

#include "lm_on_device.hpp"

namespace mt = meshtensor;

int main(int argc, char** argv) {
  return lm::measure<mt::cuda_device>(
      argc, argv, "lm_on_cuda", [] { return start_device("cuda", [] { return mt::cuda_device::machine(), "cuda"; }); });
}

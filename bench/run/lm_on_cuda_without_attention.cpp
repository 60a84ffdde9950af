// SPDX-License-Identifier: Apache-2.0
// The training step of lm_on_cuda.cpp with attention as products and kernels, whose scores go through memory: to see
// what the kernels of attention are worth on a card.
// passes: start-up
//
//   build/quickstart/bench/run/lm_on_cuda_without_attention [--size lm|lm_base|tiny] [--dtype bf16] [--length 2048]
#include <meshtensor/device/cuda/device.hpp>

#include "lm_on_device.hpp"

namespace mt = meshtensor;

int main(int argc, char** argv) {
  return lm::measure<mt::cuda_device_without_attention>(argc, argv, "lm_on_cuda_without_attention", [] {
    return start_device("cuda without attention", [] { return mt::cuda_device::machine(), "cuda"; });
  });
}

// SPDX-License-Identifier: Apache-2.0
// A training step of ResNet-50 on mt::cuda_device.
// passes: start-up
// nodes: 8192
//
//   build/quickstart/bench/run/resnet_on_cuda [--dtype bf16] [--batch 64]
#include <meshtensor/device/cuda/device.hpp>

#include "resnet_on_device.hpp"

namespace mt = meshtensor;

int main(int argc, char** argv) {
  return resnet::measure<mt::cuda_device>(argc, argv, "resnet_on_cuda", [] {
    return start_device("cuda", [] { return mt::cuda_device::machine(), "cuda"; });
  });
}

// SPDX-License-Identifier: Apache-2.0
// A training step of ResNet-50 on a device of a PJRT plugin.
// passes: start-up
// nodes: 8192
//
//   MESHTENSOR_PJRT=…/xla_cuda_plugin.so build/quickstart/bench/run/resnet_on_pjrt [--dtype bf16] [--batch 64]
#include <meshtensor/device/pjrt/device.hpp>

#include "resnet_on_device.hpp"

namespace mt = meshtensor;

int main(int argc, char** argv) {
  return resnet::measure<timed_compilation<mt::pjrt_device>>(argc, argv, "resnet_on_pjrt", [] {
    return start_device(
        "pjrt", [] { return std::string(mt::pjrt::device_client::of_file(mt::pjrt::plugin_to_use()).kind(0)); });
  });
}

// SPDX-License-Identifier: Apache-2.0
// A training step of ResNet-18 on a device of a PJRT plugin.
// passes: start-up
// nodes: 8192
//
//   MESHTENSOR_PJRT=…/xla_cuda_plugin.so build/quickstart/bench/run/resnet18_on_pjrt [--batch 64]
#include <meshtensor/device/pjrt/device.hpp>

#include "resnet_on_device.hpp"

namespace mt = meshtensor;

int main(int argc, char** argv) {
  return resnet::measure<timed_compilation<mt::pjrt_device>, 18>(argc, argv, "resnet18_on_pjrt", [] {
    return start_device(
        "pjrt", [] { return std::string(mt::pjrt::device_client::of_file(mt::pjrt::plugin_to_use()).kind(0)); });
  });
}

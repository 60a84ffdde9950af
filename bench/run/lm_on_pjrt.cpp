// SPDX-License-Identifier: Apache-2.0
// The training step of lm_step.cpp on a device of a PJRT plugin.
// passes: start-up
//
//   MESHTENSOR_PJRT=…/xla_cuda_plugin.so build/quickstart/bench/run/lm_on_pjrt [--size lm|lm_base|tiny] [--dtype bf16]
#include <meshtensor/device/pjrt/device.hpp>

#include "lm_on_device.hpp"

namespace mt = meshtensor;

int main(int argc, char** argv) {
  return lm::measure<timed_compilation<mt::pjrt_device>>(argc, argv, "lm_on_pjrt", [] {
    return start_device(
        "pjrt", [] { return std::string(mt::pjrt::device_client::of_file(mt::pjrt::plugin_to_use()).kind(0)); });
  });
}

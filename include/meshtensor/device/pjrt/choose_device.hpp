// SPDX-License-Identifier: Apache-2.0
// Chooses the device of a process if several processes run on its machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/comm/key_values.hpp"
#include "meshtensor/device/device_of_rank.hpp"
#include "meshtensor/device/pjrt/create_options.hpp"

namespace meshtensor::pjrt {

/// The number of devices that NVIDIA's or AMD's driver shows to this process, or nothing for other plugins.
inline std::optional<int> visible_gpus(std::string_view plugin) {
  std::string_view const file = plugin.substr(plugin.rfind('/') + 1);
  if (file.find("cuda") != file.npos) return visible_nvidia_gpus();
  if (file.find("rocm") != file.npos) return visible_devices("libamdhip64.so", "hipInit", "hipGetDeviceCount");
  return {};
}

/// Gives a client one device. The rank with number k on its machine gets the k-th device of `visible_devices`, or of
/// all GPUs if that option is not set. A plugin whose devices are not counted chooses by itself.
///
/// errors  R77 a machine has more ranks than devices
inline void choose_device(create_options& options, comm::key_values const& ranks, std::string const& plugin) {
  std::vector<std::int64_t> devices;
  if (auto const named = options.list("visible_devices")) {
    devices = *named;
  } else if (auto const count = visible_gpus(plugin)) {
    for (int k = 0; k < *count; ++k) devices.push_back(k);
  } else {
    return;
  }
  std::size_t const place =
      device_of_rank(ranks.ranks_here(), ranks.rank(), devices.size(), "the PJRT plugin '" + plugin + "' may use",
                     "start one rank for each device");
  options.set("visible_devices=[" + std::to_string(devices[place]) + "]");
}

}  // namespace meshtensor::pjrt
